import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { extract, pack } from 'tar-stream'
import { SetupFault } from '../../platform/values/errors.ts'
import { writeNewFile } from './new-file.ts'

// A backup is a tar archive, compressed with gzip and, with a passphrase, encrypted with age (age-encryption.org).

const ageStart = 'age-encryption.org/'
const gzipStart = Buffer.from([0x1f, 0x8b])
/** 128 MiB of memory and about half a second for each guess. Reading a file takes at most 2 ** 20, which age accepts. */
const workFactor = 17
/** Half the time of the default level for files that are about a tenth larger. */
const compression = { level: 3 }
/** A file begins with its length, so it is kept in memory until it is complete. */
const fileBytes = 4 * 1024 * 1024
const lineFeed = 10

export type ArchivedFile<Content = Buffer> = { name: string; content: Content }
export type WrittenFile = { bytes: number; sha256: string }

/** Divides lines of any number and length into numbered files of whole lines, at least one. */
export async function* filesOfLines(folder: string, lines: AsyncIterable<Buffer>): AsyncGenerator<ArchivedFile> {
  let count = 0
  const next = (pieces: Buffer[]) => ({
    name: `${folder}/${String(++count).padStart(6, '0')}`,
    content: Buffer.concat(pieces),
  })
  let pending: Buffer[] = []
  let bytes = 0
  for await (const piece of lines) {
    const end = bytes + piece.length < fileBytes ? 0 : piece.lastIndexOf(lineFeed) + 1
    if (end > 0) {
      yield next([...pending, piece.subarray(0, end)])
      pending = []
      bytes = 0
    }
    pending.push(piece.subarray(end))
    bytes += piece.length - end
  }
  if (bytes > 0 || count === 0) yield next(pending)
}

/**
 * Writes an archive with mode 0600. It gets its name when it is complete and on disk. Throws `SetupFault` if the file
 * already exists.
 */
export async function writeArchive(
  path: string,
  files: AsyncIterable<ArchivedFile>,
  passphrase?: string,
): Promise<WrittenFile> {
  const hash = createHash('sha256')
  let bytes = 0
  const counted = async function* (parts: AsyncIterable<Uint8Array>) {
    for await (const part of parts) {
      hash.update(part)
      bytes += part.length
      yield part
    }
  }
  await writeNewFile(path, (file) =>
    pipeline(
      tarOf(files),
      createGzip(compression),
      (gzip: AsyncIterable<Buffer>) => encrypted(gzip, passphrase),
      counted,
      file,
    ),
  )
  return { bytes, sha256: hash.digest('hex') }
}

async function* tarOf(files: AsyncIterable<ArchivedFile>): AsyncGenerator<Buffer> {
  const archive = pack()
  const add = ({ name, content }: ArchivedFile) =>
    new Promise<void>((resolve, reject) => {
      archive.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()))
    })
  const addAll = async () => {
    for await (const file of files) await add(file)
    archive.finalize()
  }
  addAll().catch((error) => archive.destroy(error))
  yield* archive as AsyncIterable<Buffer>
}

async function* encrypted(content: AsyncIterable<Buffer>, passphrase?: string): AsyncGenerator<Uint8Array> {
  if (passphrase === undefined) return yield* content
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase.normalize('NFC'))
  encrypter.setScryptWorkFactor(workFactor)
  yield* await encrypter.encrypt(Readable.toWeb(Readable.from(content)) as ReadableStream<Uint8Array>)
}

/**
 * Reads an archive once to check that it is complete and the passphrase is right, and then yields its files. The content
 * of each must be read before the next one is requested. Throws `SetupFault` if the file or the passphrase is wrong.
 */
export async function* readArchive(
  path: string,
  passphrase?: string,
): AsyncGenerator<ArchivedFile<AsyncIterable<Buffer>>> {
  try {
    for await (const { content } of filesIn(path, passphrase)) for await (const _ of content);
  } catch (error) {
    throw error instanceof SetupFault ? error : damaged((error as Error).message)
  }
  yield* filesIn(path, passphrase)
}

async function* filesIn(path: string, passphrase?: string): AsyncGenerator<ArchivedFile<AsyncIterable<Buffer>>> {
  const archive = extract()
  pipeline(tarIn(path, passphrase), archive).catch(() => {}) // thrown below
  try {
    for await (const entry of archive) yield { name: entry.header.name, content: entry as AsyncIterable<Buffer> }
  } finally {
    archive.destroy()
  }
}

async function* tarIn(path: string, passphrase: string | undefined): AsyncGenerator<Buffer> {
  const isEncrypted = await checkStart(path)
  if (isEncrypted && passphrase === undefined)
    throw new SetupFault(
      'The backup is encrypted. Write its passphrase to standard input and use --passphrase-stdin, or set BACKUP_PASSPHRASE.',
    )
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  const unzip = createGunzip()
  try {
    const content = isEncrypted ? await decrypted(file, passphrase!) : file
    pipeline(content, unzip).catch(() => {}) // thrown below
    yield* unzip as AsyncIterable<Buffer>
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code && /^E[A-Z]+$/.test(code)) throw cannotBeRead(path, message)
    throw error instanceof SetupFault ? error : damaged(message)
  } finally {
    file.destroy()
  }
}

/** Returns whether the file is encrypted. */
async function checkStart(path: string): Promise<boolean> {
  const start = Buffer.alloc(ageStart.length)
  try {
    await using file = await open(path)
    await file.read(start)
  } catch (error) {
    throw cannotBeRead(path, (error as Error).message)
  }
  if (start.toString('latin1') === ageStart) return true
  if (start.subarray(0, gzipStart.length).equals(gzipStart)) return false
  throw new SetupFault(`${path} is not a backup made by this version of Waxwing.`)
}

async function decrypted(content: Readable, passphrase: string): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase.normalize('NFC'))
  try {
    return await decrypter.decrypt(Readable.toWeb(content) as ReadableStream<Uint8Array>)
  } catch (error) {
    if (!(error as Error).message.startsWith('no identity matched')) throw error
    throw new SetupFault('The passphrase is wrong. Nothing was changed.')
  }
}

const cannotBeRead = (path: string, message: string) => new SetupFault(`${path} cannot be read (${message}).`)

export const damaged = (problem: string) =>
  new SetupFault(`The backup is incomplete or damaged: ${problem}. Nothing was changed. Use another copy of the file.`)
