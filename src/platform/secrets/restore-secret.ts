import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { storeAppSecret } from './secrets.ts'

/** Stores a restored secret in DATA_DIR. A different one that is there is kept under another name. */
export async function replaceStoredSecret(dataDir: string, secret: string): Promise<void> {
  const file = join(dataDir, 'secret')
  const stored = await readFile(file, 'utf8').catch(() => undefined)
  if (stored?.trim() === secret) return
  if (stored !== undefined) await rename(file, `${file}.before-restore-${Date.now()}`)
  await storeAppSecret(dataDir, secret)
}
