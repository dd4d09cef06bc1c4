import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../runtime/sync-directory.ts'
import { SetupFault } from '../values/errors.ts'

export type AppSecrets = {
  current: string
  previous: string | undefined
  /** When the database was first used with the current secret. The previous one cannot sign later sessions. */
  currentSince?: Date | undefined
}

/** The minimum length of APP_SECRET. */
const charactersMin = 32

/** Returns the secret in DATA_DIR, which is generated at the first start. Throws `SetupFault` if it cannot be used. */
export const loadAppSecret = async (dataDir: string): Promise<string> =>
  checkLength(dataDir, await readOrGenerate(dataDir, fileIn(dataDir)))

/** Returns undefined if DATA_DIR has no secret. Throws `SetupFault` if it cannot be used. */
export async function findAppSecret(dataDir: string): Promise<string | undefined> {
  const file = fileIn(dataDir)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new SetupFault(
      `DATA_DIR: the secret cannot be read (${error.message}). Run this command as the user of the service.`,
    )
  })
  return text === undefined ? undefined : checkLength(dataDir, text.trim())
}

const fileIn = (dataDir: string) => join(dataDir, 'secret')

function checkLength(dataDir: string, secret: string): string {
  if (secret.length < charactersMin)
    throw new SetupFault(
      `DATA_DIR: ${fileIn(dataDir)} has fewer than ${charactersMin} characters. Restore it from a backup, or delete it to generate a new secret, which invalidates all sessions and the links in sent emails.`,
    )
  return secret
}

async function readOrGenerate(dataDir: string, file: string): Promise<string> {
  try {
    if (!existsSync(file)) await storeAppSecret(dataDir, randomBytes(32).toString('base64url'))
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new SetupFault(
      `DATA_DIR: the secret cannot be read or created (${(error as Error).message}). Set DATA_DIR to a directory that this user can write to.`,
    )
  }
}

/**
 * Stores a secret in DATA_DIR unless it has one. Writes a temporary file and links it: a killed process cannot leave a
 * partial secret, and the first of two processes wins.
 */
export async function storeAppSecret(dataDir: string, secret: string): Promise<void> {
  const file = fileIn(dataDir)
  await mkdir(dataDir, { recursive: true })
  const draft = `${file}.${process.pid}`
  try {
    // Flushed before it is linked, so that a power failure cannot leave an empty secret.
    await writeFile(draft, `${secret}\n`, { mode: 0o600, flush: true })
    await chmod(draft, 0o600)
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncDirectory(dataDir)
}

/** Derives a separate key for each purpose, so that a signature for one purpose is not valid for another. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'waxwing', purpose, 32))
}

const ivBytes = 12
const tagBytes = 16

/** Encrypts webhook secrets with AES-256-GCM. Decrypts with the current and the previous APP_SECRET. */
export class SecretBox {
  readonly #current: Buffer
  readonly #keys: Buffer[]

  constructor(secrets: AppSecrets, purpose: string) {
    this.#current = deriveKey(secrets.current, purpose)
    this.#keys = secrets.previous ? [this.#current, deriveKey(secrets.previous, purpose)] : [this.#current]
  }

  seal(plain: string): Buffer {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#current, iv)
    return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  }

  /** Returns undefined if the value was not encrypted with the current or previous secret. */
  open(sealed: Buffer): string | undefined {
    for (const key of this.#keys) {
      const plain = openWith(key, sealed)
      if (plain !== undefined) return plain
    }
    return undefined
  }

  /** Returns the value encrypted with the current secret, or undefined if it already is or cannot be decrypted. */
  reseal(sealed: Buffer): Buffer | undefined {
    if (openWith(this.#current, sealed) !== undefined) return undefined
    const plain = this.open(sealed)
    return plain === undefined ? undefined : this.seal(plain)
  }
}

function openWith(key: Buffer, sealed: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    const plain = decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8')
    return plain + decipher.final('utf8')
  } catch {
    // Encrypted with another key, or not an encrypted value.
    return undefined
  }
}
