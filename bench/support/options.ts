/** Set once from the command line. */
export const options: {
  profileFolder: string | undefined
  verbose: boolean
  organizations: number
  pairs: number
  roundMs: number
} = {
  profileFolder: undefined,
  verbose: false,
  organizations: 1,
  pairs: 5,
  roundMs: 2_500,
}
