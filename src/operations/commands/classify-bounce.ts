import { classifyFiles } from '@waxwing/bounce-classifier'
import { SetupFault } from '../../platform/values/errors.ts'
import type { Call } from './call.ts'

/** Prints one JSON line per file. Returns 1 if a file could not be read. */
export async function classifyBounceFiles({ words: files }: Call): Promise<number> {
  if (files.length === 0) throw new SetupFault('At least one file is required: waxwing classify-bounce FILE…')
  let unread = 0
  const warn = (line: string) => {
    unread++
    process.stderr.write(`${line}\n`)
  }
  for await (const line of classifyFiles(files, warn)) process.stdout.write(`${line}\n`)
  return unread === 0 ? 0 : 1
}
