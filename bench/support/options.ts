/** Set once from the command line. */
export const options: { profileFolder: string | undefined; verbose: boolean; organizations: number } = {
  profileFolder: undefined,
  verbose: false,
  organizations: 1,
}
