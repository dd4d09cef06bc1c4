/** The flags of a command: texts, and `true` for switches that are set. */
export type Flags = Record<string, string | true | undefined>

/** The text of a flag; undefined if it was left out. */
export const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return value === true ? undefined : value
}
