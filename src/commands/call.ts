import type { SettingSources } from '../config/config.ts'

/** The flags of a command: texts, and `true` for switches that are set. */
export type Flags = Record<string, string | true | undefined>

/** How a command was called: where its settings come from, its flags, and its other arguments. */
export type Call = { sources: SettingSources; flags: Flags; words: string[] }

/** Returns the value of a flag, or undefined if it was omitted. */
export const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return value === true ? undefined : value
}
