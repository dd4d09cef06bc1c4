import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../runtime/sync-directory.ts'

/** A secret that is on disk, but not used before `publish` renames it. */
export type NewSecret = { publish(): Promise<void>; discard(): Promise<void> }

/**
 * Writes a restored secret to DATA_DIR. A different one that is there is kept under another name. Returns undefined if the
 * secret is stored already.
 */
export async function prepareSecret(dataDir: string, secret: string): Promise<NewSecret | undefined> {
  const file = join(dataDir, 'secret')
  const [prepared, kept] = [`${file}.restored`, `${file}.before-restore-${Date.now()}`]
  await mkdir(dataDir, { recursive: true })
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (stored?.trim() === secret) return undefined
  const discard = async () => {
    await rm(prepared, { force: true })
    await rm(kept, { force: true })
  }
  try {
    // Of a restore that was interrupted.
    await rm(prepared, { force: true })
    await writeFile(prepared, `${secret}\n`, { mode: 0o600, flush: true })
    if (stored !== undefined) await link(file, kept)
    await syncDirectory(dataDir)
  } catch (error) {
    await discard()
    throw error
  }
  return {
    publish: async () => {
      await rename(prepared, file)
      await syncDirectory(dataDir)
    },
    discard,
  }
}
