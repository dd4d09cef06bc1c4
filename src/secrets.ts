import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type AppSecrets = { current: string; previous: string | undefined }

/** The secret from the settings, or the one in DATA_DIR, made at the first start. */
export function loadAppSecret(dataDir: string): string {
  const file = join(dataDir, 'secret')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  mkdirSync(dataDir, { recursive: true })
  // Written aside and linked: a process killed meanwhile leaves no half a secret, and the first of two processes wins.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8').trim()
}

/** A key of its own for each purpose, so that what is signed for one is worth nothing for another. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'waxwing', purpose, 32))
}

const ivBytes = 12
const tagBytes = 16

/** Encrypts what has to be read again (webhook secrets) with AES-256-GCM; reads what the secret before had written. */
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

  open(sealed: Buffer): string {
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes))
        decipher.setAuthTag(sealed.subarray(-tagBytes))
        const plain = decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8')
        return plain + decipher.final('utf8')
      } catch {
        // Not sealed with this key; the next may fit.
      }
    }
    throw new Error('A stored secret cannot be decrypted. Was APP_SECRET changed without APP_SECRET_PREVIOUS?')
  }
}
