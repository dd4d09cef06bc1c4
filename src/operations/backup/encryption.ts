import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { SetupFault } from '../../platform/values/errors.ts'

const saltBytes = 16
const keyBytes = 32
const tagBytes = 16
/** 128 MiB of memory and about half a second for each guess. */
const cost = { N: 2 ** 17, r: 8, p: 1 }
/** A file may ask for more memory than this only to harm the machine that reads it. */
const costMax = { N: 2 ** 20, r: 16, p: 4 }

/** How a backup is encrypted. Stored in its header. */
export type Encryption = { cipher: 'aes-256-gcm'; kdf: 'scrypt'; N: number; r: number; p: number; salt: string }

export const newEncryption = (): Encryption => ({
  cipher: 'aes-256-gcm',
  kdf: 'scrypt',
  ...cost,
  salt: randomBytes(saltBytes).toString('base64'),
})

/**
 * The salt is random, so every file has its own key and chunk numbers can serve as nonces. Throws `SetupFault` if the
 * header asks for an unknown method.
 */
export async function deriveFileKey(passphrase: string, { cipher, kdf, N, r, p, salt }: Encryption): Promise<Buffer> {
  const isKnown = cipher === 'aes-256-gcm' && kdf === 'scrypt' && N <= costMax.N && r <= costMax.r && p <= costMax.p
  if (!isKnown) throw new SetupFault('The backup is encrypted in a way that this version of Waxwing does not support.')
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)
  const options = { N, r, p, maxmem: 256 * N * r }
  return derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), keyBytes, options)
}

/**
 * The chunks of a file cannot be reordered, removed or moved to another file: the nonce has the number of the chunk and
 * whether it is the last one, and the header is authenticated with every chunk.
 */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(index))
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}

export type ChunkContext = { key: Buffer; header: Buffer; index: number; isLast: boolean }

export function sealChunk(chunk: Buffer, { key, header, index, isLast }: ChunkContext): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast))
  cipher.setAAD(header)
  return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
}

/** Returns undefined if the chunk was encrypted with another key or in another place. */
export function openChunk(sealed: Buffer, { key, header, index, isLast }: ChunkContext): Buffer | undefined {
  if (sealed.length < tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast))
  decipher.setAAD(header)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
