/** Set once from the command line. */
export const options: { profileFolder: string | undefined; verbose: boolean } = {
  profileFolder: undefined,
  verbose: false,
}
