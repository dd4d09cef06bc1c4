import { generatePassword } from '../../accounts/accounts.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { type Flags, textOf } from './call.ts'

const bytesMax = 4_096

/**
 * The password that a command sets: from standard input with `--password-stdin`, else from `--password`, else a
 * generated one. Only a generated one is to be printed. Throws `SetupFault` if standard input holds no password.
 */
export async function readPassword(flags: Flags): Promise<{ password: string; isGenerated: boolean }> {
  const argument = textOf(flags, 'password')
  if (flags['password-stdin']) {
    if (argument !== undefined) throw new SetupFault('Use either --password-stdin or --password, not both.')
    return { password: await readLine('password'), isGenerated: false }
  }
  return argument ? { password: argument, isGenerated: false } : { password: generatePassword(), isGenerated: true }
}

/** Returns the first line of standard input. Throws `SetupFault` if it is empty, with the name of the value. */
export async function readLine(name: string): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (piece.includes(10) || bytes > bytesMax) break
  }
  const [line = ''] = Buffer.concat(pieces).subarray(0, bytesMax).toString().split(/\r?\n/, 1)
  if (line === '') throw new SetupFault(`Standard input is empty. Write the ${name} to it, followed by a line feed.`)
  return line
}
