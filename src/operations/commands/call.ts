import type { SettingSources } from '../../platform/config/config.ts'
import { SetupFault } from '../../platform/values/errors.ts'

/** The flags of a command: texts, and `true` for switches that are set. */
export type Flags = Record<string, string | true | undefined>

/** How a command was called: where its settings come from, its flags, and its other arguments. */
export type Call = { sources: SettingSources; flags: Flags; words: string[] }

/** The command was called with the wrong arguments. */
export class UsageFault extends SetupFault {}

/** Returns the value of a flag, or undefined if it was omitted. */
export const textOf = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return value === true ? undefined : value
}

/** Returns the only argument of a command. Throws `UsageFault` if there is none, or more than one. */
export function onlyFile({ words }: Call, command: string): string {
  const [file, ...others] = words
  if (file === undefined || others.length > 0)
    throw new UsageFault(`The name of one file is required: waxwing ${command} FILE.`)
  return file
}

/** Writes a line for people. Standard output has only the result. */
export const note = (line: string) => process.stderr.write(`${line}\n`)
