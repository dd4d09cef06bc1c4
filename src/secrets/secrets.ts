import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SetupFault } from '../values/errors.ts'

export type AppSecrets = {
  current: string
  previous: string | undefined
  /** When the database was first used with the current secret. The previous one has issued no session after that. */
  currentSince?: Date | undefined
}

/** As many characters as APP_SECRET must have. */
const charactersMin = 32

/** The secret in DATA_DIR, made at the first start. Throws a SetupFault when it cannot be used. */
export function loadAppSecret(dataDir: string): string {
  const file = join(dataDir, 'secret')
  const secret = readOrMake(dataDir, file)
  // Everything that is signed and encrypted hangs on it, and an empty one is known to everybody.
  if (secret.length < charactersMin)
    throw new SetupFault(
      `DATA_DIR: ${file} holds fewer than ${charactersMin} characters: restore it from a backup, or remove it to have a new one made, which ends sessions and links in mail.`,
    )
  return secret
}

function readOrMake(dataDir: string, file: string): string {
  try {
    if (!existsSync(file)) make(dataDir, file)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new SetupFault(
      `DATA_DIR: the secret in it cannot be read or made (${(error as Error).message}): name a folder that this user may write to.`,
    )
  }
}

/** Written aside and linked: a process killed meanwhile leaves no half a secret, and the first of two processes wins. */
function make(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true })
  const draft = `${file}.${process.pid}`
  try {
    // On the disk before it has its name: a machine that fails must not come back with an empty secret.
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    chmodSync(draft, 0o600)
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncDirectory(dataDir)
}

/** A new name is on the disk only when its directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
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

  /** Undefined for what neither secret has sealed. */
  open(sealed: Buffer): string | undefined {
    for (const key of this.#keys) {
      const plain = openWith(key, sealed)
      if (plain !== undefined) return plain
    }
    return undefined
  }

  /** The same under the current secret; undefined when it is so already, or cannot be opened. */
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
    // Sealed with another key, or no box at all.
    return undefined
  }
}
