import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { SetupFault } from '../../platform/values/errors.ts'
import { ByteReader, blockOf, truncated } from './byte-reader.ts'
import { deriveFileKey, type Encryption, newEncryption, openChunk, sealChunk } from './encryption.ts'
import { writeNewFile } from './new-file.ts'

// docs/guides/backup.md describes the format.

const magic = 'WAXWING BACKUP 1'
const chunkBytes = 64 * 1024
/** A chunk as another program may write it, with its tag. */
const chunkBytesMax = 1024 * 1024 + 16
const checksumBytes = 32
/** Half the time of the default level for files that are about a tenth larger. */
const compression = { level: 3 }

type Header = { created_at: string; waxwing: string; compression: 'gzip'; encryption: Encryption | null }

export type WrittenFile = { bytes: number; sha256: string }

/**
 * Writes a backup with mode 0600. It gets its name when it is complete and on disk. Throws `SetupFault` if the file
 * already exists.
 */
export async function writeContainer(
  path: string,
  content: AsyncIterable<Buffer>,
  { passphrase, waxwing }: { passphrase?: string | undefined; waxwing: string },
): Promise<WrittenFile> {
  const header = headerOf(waxwing, passphrase === undefined ? null : newEncryption())
  const key = header.encryption && (await deriveFileKey(passphrase!, header.encryption))
  const headerBytes = Buffer.from(`${magic}\n${JSON.stringify(header)}\n`)
  const hash = createHash('sha256')
  let bytes = 0
  const withChecksum = async function* (parts: AsyncIterable<Buffer>) {
    for await (const part of parts) {
      hash.update(part)
      bytes += part.length
      yield part
    }
    bytes += checksumBytes
    yield hash.copy().digest()
  }
  await writeNewFile(path, (file) =>
    pipeline(
      content,
      createGzip(compression),
      (gzip: AsyncIterable<Buffer>) => chunksOf(gzip, headerBytes, key),
      withChecksum,
      file,
    ),
  )
  return { bytes, sha256: hash.digest('hex') }
}

const headerOf = (waxwing: string, encryption: Encryption | null): Header => ({
  created_at: new Date().toISOString(),
  waxwing,
  compression: 'gzip',
  encryption,
})

/** Yields the header, the chunks, and the empty one that ends them. */
async function* chunksOf(gzip: AsyncIterable<Buffer>, header: Buffer, key: Buffer | null): AsyncGenerator<Buffer> {
  yield header
  let index = 0
  const seal = (chunk: Buffer, isLast: boolean) =>
    blockOf(key ? sealChunk(chunk, { key, header, index: index++, isLast }) : chunk)
  let pending = Buffer.alloc(0)
  for await (const piece of gzip) {
    pending = Buffer.concat([pending, piece])
    // The last chunk is marked as such, so one is always held back.
    while (pending.length > chunkBytes) {
      yield seal(pending.subarray(0, chunkBytes), false)
      pending = pending.subarray(chunkBytes)
    }
  }
  yield seal(pending, true)
  yield blockOf(Buffer.alloc(0))
}

export type OpenContainer = AsyncDisposable & { content: AsyncIterable<Buffer>; header: Header }

/**
 * Checks the checksum of the whole file and the passphrase, and then returns its content. Throws `SetupFault` if either
 * is wrong. `onProgress` gets the share of the file that was checked.
 */
export async function openContainer(
  path: string,
  { passphrase, onProgress }: { passphrase?: string | undefined; onProgress?: (share: number) => void },
): Promise<OpenContainer> {
  const end = await checkSum(path, onProgress ?? (() => {}))
  const stream = createReadStream(path, { end, highWaterMark: 256 * 1024 })
  const close = async () => void stream.destroy()
  try {
    const reader = new ByteReader(stream)
    const [first, second] = [await reader.line(), await reader.line()]
    const header = parseHeader(first, second)
    const headerBytes = Buffer.from(`${first}\n${second}\n`)
    const key = await keyFor(header, passphrase)
    const chunks = readChunks(reader, headerBytes, key)
    // The first chunk shows whether the passphrase is right.
    const start = await chunks.next()
    const content = gunzip(resume(start, chunks))
    return { content, header, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the position of the last byte before the checksum. */
async function checkSum(path: string, onProgress: (share: number) => void): Promise<number> {
  const { size } = await stat(path).catch(explainRead(path))
  const head = Buffer.alloc(magic.length)
  const checksum = Buffer.alloc(checksumBytes)
  const file = await open(path).catch(explainRead(path))
  try {
    await file.read(head, 0, head.length, 0)
    if (head.toString() !== magic) throw new SetupFault(`${path} is not a backup made by this version of Waxwing.`)
    if (size < magic.length + checksumBytes) throw truncated()
    await file.read(checksum, 0, checksumBytes, size - checksumBytes)
  } finally {
    await file.close()
  }
  const hash = createHash('sha256')
  const end = size - checksumBytes - 1
  let bytes = 0
  for await (const piece of createReadStream(path, { end, highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    hash.update(piece)
    bytes += piece.length
    onProgress(bytes / end)
  }
  if (!hash.digest().equals(checksum))
    throw new SetupFault(
      `The checksum of ${path} is wrong: the file is incomplete or damaged. Nothing was changed. Use another copy of the file.`,
    )
  return end
}

function parseHeader(first: string, second: string): Header {
  const header = JSON.parse(second) as Header
  if (first !== magic || header.compression !== 'gzip')
    throw new SetupFault('The format of the backup is not supported by this version of Waxwing.')
  return header
}

async function keyFor({ encryption }: Header, passphrase: string | undefined): Promise<Buffer | null> {
  if (encryption === null) return null
  if (passphrase === undefined)
    throw new SetupFault(
      'The backup is encrypted. Write its passphrase to standard input and use --passphrase-stdin, or set BACKUP_PASSPHRASE.',
    )
  return deriveFileKey(passphrase, encryption)
}

/** A chunk is the last one if the empty one follows. */
async function* readChunks(reader: ByteReader, header: Buffer, key: Buffer | null): AsyncGenerator<Buffer> {
  let index = 0
  const unseal = (sealed: Buffer, isLast: boolean) => {
    if (!key) return sealed
    const chunk = openChunk(sealed, { key, header, index: index++, isLast })
    if (chunk) return chunk
    throw index === 1
      ? new SetupFault('The passphrase is wrong. Nothing was changed.')
      : new SetupFault('The backup was modified after it was made. Nothing was changed.')
  }
  let pending: Buffer | undefined
  for await (const sealed of reader.blocks(chunkBytesMax)) {
    if (pending) yield unseal(pending, false)
    pending = sealed
  }
  if (!pending) throw truncated()
  yield unseal(pending, true)
}

async function* resume(start: IteratorResult<Buffer>, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (!start.done) yield start.value
  yield* rest
}

async function* gunzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unzip = createGunzip()
  const feeding = pipeline(chunks, unzip)
  feeding.catch(() => {}) // thrown below
  yield* unzip as AsyncIterable<Buffer>
  await feeding
}

function explainRead(path: string) {
  return (error: NodeJS.ErrnoException): never => {
    throw new SetupFault(`${path} cannot be read (${error.message}).`)
  }
}
