import { createHash, hash } from 'node:crypto'
import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { type FileId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import {
  changeUses,
  deleteFiles,
  deleteUploads,
  findChunk,
  findChunks,
  finishUpload,
  insertChunk,
  insertChunks,
  insertFiles,
  insertUpload,
  lockFiles,
  lockFilesByHash,
  type NewFileRow,
} from './files.sql.ts'

export { selectOldUploads, sumFileBytes } from './files.sql.ts'

/**
 * A multiple of the 57 bytes of a line in base64, so that each chunk is encoded to whole lines. Chunks of 256 KB would need
 * half the statements, but sending 10 MB takes 10 MB more memory with them: V8 releases texts above 128 KB late.
 */
export const chunkBytes = 57 * 1_024
/** The content of a file up to this size is held in memory until its email is accepted. */
export const smallFileBytesMax = 256 * 1024
/** Chunks that a download reads with one query, about 460 KB. */
const downloadedChunks = 8
const writtenBytesMax = 1024 * 1024

/** A file of an email that is not accepted yet. */
export type NewFile = {
  id: FileId
  /** SHA-256 in hexadecimal digits. */
  hash: string
  bytes: number
  /** The content of a small file, which is not stored yet. Null: its chunks, or its object in the bucket, are stored. */
  content: Buffer | null
  inBucket?: boolean
}

/** Returns a file that is already in memory. */
export const smallFile = (content: Buffer): NewFile => ({
  id: newId('fil'),
  hash: hash('sha256', content),
  bytes: content.length,
  content,
})

/** `writes`: limits how many chunks are written at the same time. */
export type FileUploadParts = { db: Db; organizationId: OrganizationId; writes: Stage }

/**
 * Stores a file as it is received. Nothing is written for a small one: its content is stored with the email, if it is not
 * stored yet. The row of an upload that is never finished is deleted an hour later.
 */
export class FileUpload {
  readonly #parts: FileUploadParts
  readonly #id: FileId = newId('fil')
  readonly #hash = createHash('sha256')
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #stored = 0
  #bytes = 0

  constructor(parts: FileUploadParts) {
    this.#parts = parts
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Returns a promise if chunks are being stored: nothing must be written until it resolves. */
  write(part: Buffer): Promise<void> | undefined {
    this.#hash.update(part)
    this.#bytes += part.length
    this.#waiting.push(part)
    this.#waitingBytes += part.length
    const isLarge = this.#waitingBytes > (this.#stored === 0 ? smallFileBytesMax : chunkBytes)
    return isLarge ? this.#store(chunkBytes) : undefined
  }

  async end(): Promise<NewFile> {
    const isSmall = this.#stored === 0
    const content = isSmall ? Buffer.concat(this.#waiting) : null
    if (!isSmall) await this.#store(1)
    this.#waiting = []
    return { id: this.#id, hash: this.#hash.digest('hex'), bytes: this.#bytes, content }
  }

  /** The id under which chunks are stored, if any are. */
  get storedId(): FileId | undefined {
    return this.#stored > 0 ? this.#id : undefined
  }

  /** Stores whole chunks, and the rest if it has at least `bytesMin` bytes. */
  #store(bytesMin: number): Promise<void> {
    const { organizationId, writes } = this.#parts
    return writes.run(organizationId, () => this.#write(bytesMin))
  }

  async #write(bytesMin: number): Promise<void> {
    const { db, organizationId } = this.#parts
    let all = Buffer.concat(this.#waiting)
    this.#waiting = []
    if (this.#stored === 0) await insertUpload(db.statement, organizationId, this.#id)
    while (all.length >= bytesMin && all.length > 0) {
      const chunk = all.subarray(0, chunkBytes)
      await insertChunk(db.statement, organizationId, this.#id, this.#stored, chunk)
      this.#stored++
      all = all.subarray(chunk.length)
    }
    this.#waitingBytes = all.length
    // Copied, so that the chunks that were stored can be released.
    if (all.length > 0) this.#waiting = [Buffer.from(all)]
  }
}

/** Deletes those of the uploads that no email was accepted with. */
export const discardUploads = (db: Db, organizationId: OrganizationId, ids: readonly FileId[]) =>
  db.begin((tx) => deleteUploads(tx, organizationId, ids))

/**
 * Stores the files of emails of one organization, or counts another use of files that are stored already. `uses` has each
 * file as often as it is used, and either all of them are in the bucket or none is. Returns the id of the stored file for
 * each of them.
 */
export async function useFiles(
  tx: Tx,
  organizationId: OrganizationId,
  uses: readonly NewFile[],
): Promise<ReadonlyMap<FileId, FileId>> {
  const byHash = new Map(groupBy(uses, (file) => file.hash))
  const place = { inBucket: uses[0]?.inBucket ?? false }
  const existing = new Map(
    (await lockFilesByHash(tx, organizationId, [...byHash.keys()], place)).map(({ id, hash: known }) => [known, id]),
  )
  const storedAs = new Map<FileId, FileId>()
  const more: { id: FileId; uses: number }[] = []
  const written: WrittenFile[] = []
  for (const [known, same] of byHash) {
    const stored = existing.get(known)
    if (stored) more.push({ id: stored, uses: same.length })
    const id = stored ?? (await storeFile(tx, organizationId, same, written))
    for (const file of same) storedAs.set(file.id, id)
    const duplicates = new Set(same.filter((file) => file.content === null && file.id !== id).map((file) => file.id))
    await deleteFiles(tx, organizationId, [...duplicates])
  }
  if (more.length > 0) await changeUses(tx, organizationId, more)
  if (written.length > 0) await writeFiles(tx, organizationId, written)
  return storedAs
}

type WrittenFile = { row: NewFileRow; content: Buffer }

/** Stores a file that several emails of a request may use. One that is in memory is added to `written`. */
async function storeFile(
  tx: Tx,
  organizationId: OrganizationId,
  same: readonly NewFile[],
  written: WrittenFile[],
): Promise<FileId> {
  const { id, hash: known, bytes, content } = same.find((file) => file.content === null) ?? same[0]!
  const row = { organizationId, id, hash: known, bytes, uses: same.length }
  if (content === null) {
    if (!(await finishUpload(tx, row)))
      throw new Refusal('unavailable', 'The request took too long. Try again.', { retryAfterSeconds: 1 })
    return id
  }
  written.push({ row, content })
  return id
}

/** Writes small files, those of about a megabyte with one statement. */
async function writeFiles(tx: Tx, organizationId: OrganizationId, files: readonly WrittenFile[]): Promise<void> {
  for (let start = 0; start < files.length; ) {
    let [end, bytes] = [start, 0]
    while (end < files.length && (end === start || bytes + files[end]!.content.length <= writtenBytesMax))
      bytes += files[end++]!.content.length
    const some = files.slice(start, end)
    const chunks = some.flatMap(({ row, content }) =>
      chunksOf(content).map((chunk, position) => ({ id: row.id, position, chunk })),
    )
    insertFiles(
      tx,
      organizationId,
      some.map(({ row }) => row),
    )
    await insertChunks(tx, organizationId, chunks)
    start = end
  }
}

export const chunksOf = (content: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(content.length / chunkBytes) }, (_, position) =>
    content.subarray(position * chunkBytes, (position + 1) * chunkBytes),
  )

/** Ends a use of each of these files, and deletes those that are not used any more. */
export async function releaseFiles(tx: Tx, organizationId: OrganizationId, uses: readonly FileId[]): Promise<void> {
  if (uses.length === 0) return
  const counts = new Map(groupBy(uses, (id) => id))
  await lockFiles(tx, organizationId, [...counts.keys()])
  const unused = await changeUses(
    tx,
    organizationId,
    [...counts].map(([id, same]) => ({ id, uses: -same.length })),
  )
  await deleteFiles(tx, organizationId, unused)
}

/** Counts another use of each of these files. Throws `Refusal` if one was deleted. */
export async function reuseFiles(tx: Tx, organizationId: OrganizationId, uses: readonly FileId[]): Promise<void> {
  if (uses.length === 0) return
  const counts = new Map(groupBy(uses, (id) => id))
  const locked = await lockFiles(tx, organizationId, [...counts.keys()])
  if (locked.length < counts.size) throw fileIsGone()
  await changeUses(
    tx,
    organizationId,
    [...counts].map(([id, same]) => ({ id, uses: same.length })),
  )
}

class FileIsGone extends Refusal {
  constructor() {
    super('conflict', 'An attachment of this email is no longer stored.')
  }
}

export const fileIsGone = (): Refusal => new FileIsGone()
export const isFileGone = (error: unknown): boolean => error instanceof FileIsGone

/** Reads the bytes from `start` to `end`, a chunk at a time. Throws `Refusal` if the file is no longer stored. */
export async function* readFile(
  db: Reader,
  organizationId: OrganizationId,
  id: FileId,
  { start, end }: { start: number; end: number },
): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const position = Math.floor(at / chunkBytes)
    const chunk = await findChunk(db, organizationId, id, position)
    if (!chunk) throw fileIsGone()
    const from = at - position * chunkBytes
    const part = chunk.subarray(from, Math.min(chunk.length, end - position * chunkBytes))
    if (part.length === 0) throw fileIsGone()
    yield part
    at += part.length
  }
}

/**
 * Reads a file for a client, a few chunks at a time. `reads` limits how many such reads run at the same time: a client that
 * receives slowly holds no place. Throws `Refusal` if the file is no longer stored.
 */
export async function* downloadFile(
  db: Reader,
  reads: Stage,
  organizationId: OrganizationId,
  { fileId, bytes }: { fileId: FileId; bytes: number },
): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const position = at / chunkBytes
    const chunks = await reads.run(organizationId, () =>
      findChunks(db, organizationId, fileId, { position, count: downloadedChunks }),
    )
    const part = Buffer.concat(chunks)
    if (part.length < Math.min(bytes - at, downloadedChunks * chunkBytes)) throw fileIsGone()
    yield part
    at += part.length
  }
}

/** Throws `Refusal` if the file is no longer stored. */
export async function readWholeFile(
  db: Reader,
  organizationId: OrganizationId,
  id: FileId,
  bytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of readFile(db, organizationId, id, { start: 0, end: bytes })) chunks.push(chunk)
  return Buffer.concat(chunks)
}
