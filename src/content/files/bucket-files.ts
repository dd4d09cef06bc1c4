import { hash } from 'node:crypto'
import type { Db } from '../../platform/db/db.ts'
import { type Bucket, BucketFault } from '../../platform/object-storage/bucket.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type FileId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { type BucketFileId, insertUpload, isInBucket } from './files.sql.ts'
import { fileIsGone, type NewFile } from './files.ts'

const retryAfterSeconds = 10

export const folderOf = (organizationId: OrganizationId): string => `files/${organizationId}/`
export const keyOf = ({ organizationId, id }: BucketFileId): string => `${folderOf(organizationId)}${id}`

export type BucketFilesParts = { db: Db; failures: FailureLog; bucket: Bucket | undefined }

/**
 * Files whose content is an object in the operator's bucket. The row of a file is written before its object, and deleted
 * after it, so no object is forgotten whenever a process is killed.
 */
export class BucketFiles {
  readonly #db: Db
  readonly #failures: FailureLog
  /** If undefined, new files are stored in the database. */
  readonly bucket: Bucket | undefined

  constructor({ db, failures, bucket }: BucketFilesParts) {
    this.#db = db
    this.#failures = failures
    this.bucket = bucket
  }

  /** Uploads a file, which is deleted an hour later if `useFiles` was not called with it. Throws `Refusal`. */
  async upload(organizationId: OrganizationId, content: Buffer, contentType: string): Promise<NewFile> {
    const id: FileId = newId('fil')
    await insertUpload(this.#db.statement, organizationId, id, { inBucket: true })
    await this.#with('store files in the bucket', (bucket) =>
      bucket.put(keyOf({ organizationId, id }), content, contentType),
    )
    return { id, hash: hash('sha256', content), bytes: content.length, content: null, inBucket: true }
  }

  /** Returns undefined if the file is in the database. Throws `Refusal` if it is not stored any more. */
  async find(organizationId: OrganizationId, id: FileId): Promise<BucketFileId | undefined> {
    const found = await isInBucket(this.#db, organizationId, id)
    if (found === undefined) throw fileIsGone()
    return found ? { organizationId, id } : undefined
  }

  /** Throws `Refusal` if the storage fails, or the object was deleted. */
  async read(file: BucketFileId, bytes: number): Promise<Buffer> {
    const content = await this.#with('read files from the bucket', async (bucket) => {
      const found = await bucket.get(keyOf(file), bytes)
      if (found && found.length < bytes) throw new BucketFault(`Sent ${found.length} of ${bytes} bytes`)
      return found
    })
    if (!content) throw fileIsGone()
    return content
  }

  async #with<Result>(work: string, request: (bucket: Bucket) => Promise<Result>): Promise<Result> {
    try {
      if (!this.bucket) throw new BucketFault('IMAGES_S3_ENDPOINT is not set, but there are images in a bucket')
      const result = await request(this.bucket)
      this.#failures.succeeded(work)
      return result
    } catch (error) {
      if (!(error instanceof BucketFault)) throw error
      this.#failures.failed(work, error)
      throw new Refusal('unavailable', 'The storage of images is unavailable. Try again later.', {
        retryAfterSeconds,
        cause: error,
      })
    }
  }
}
