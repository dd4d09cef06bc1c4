import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { syncDirectory } from '../../platform/runtime/sync-directory.ts'
import { SetupFault } from '../../platform/values/errors.ts'

/**
 * Creates a file with mode 0600 that only its owner can read. It gets its name when it is complete and on disk. Throws
 * `SetupFault` if the file exists or cannot be written.
 */
export async function writeNewFile(path: string, write: (file: Writable) => Promise<void>): Promise<void> {
  if (await stat(path).catch(() => null)) throw new SetupFault(`${path} already exists. Choose another file name.`)
  const unfinished = `${path}.unfinished`
  const file = await open(unfinished, 'w', 0o600).catch(explain(path))
  try {
    await file.chmod(0o600)
    await write(createWriteStream('', { fd: file.fd, autoClose: false }))
    await file.sync()
    await file.close()
    await rename(unfinished, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await file.close().catch(() => {})
    await rm(unfinished, { force: true })
    explain(path)(error as NodeJS.ErrnoException)
  }
}

function explain(path: string) {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code === undefined || !/^E[A-Z]+$/.test(error.code)) throw error
    const advice = error.code === 'ENOSPC' ? 'The disk is full.' : 'Choose another file.'
    throw new SetupFault(`${path} cannot be written (${error.message}). ${advice}`)
  }
}
