import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { chunksOf, keyOf } from '../../content/content.ts'
import { type Bucket, BucketFault } from '../../platform/object-storage/bucket.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import type { FileId, OrganizationId } from '../../platform/values/ids.ts'

const retryDelaysMs = [2_000, 10_000]
const filesPerQuery = 1_000

/** A row of `stored_file_chunks`. */
export type StoredChunk = { organization_id: OrganizationId; file_id: FileId; position: number; bytes: string }

type StoredFile = { organizationId: OrganizationId; id: FileId; bytes: number }

export type BucketSource = {
  bucket: Bucket | undefined
  /** All organizations, if undefined. */
  organizationId?: OrganizationId
  /** Called for a file that is not in the bucket, for example because it was deleted since the transaction began. */
  onMissing: () => void
}

/**
 * Reads the files in the bucket as rows with which they become files in the database. Must run in a transaction. Throws
 * `SetupFault` if the bucket cannot be read.
 */
export async function* readBucketChunks(
  client: pg.ClientBase,
  { bucket, organizationId, onMissing }: BucketSource,
): AsyncGenerator<StoredChunk> {
  for await (const file of filesInBucket(client, organizationId)) {
    if (!bucket)
      throw new SetupFault(
        'There are images in a bucket, but IMAGES_S3_ENDPOINT is not set. Use the settings of the service, for example with --env-file FILE.',
      )
    const content = await read(bucket, file)
    if (!content) onMissing()
    for (const [position, bytes] of chunksOf(content ?? Buffer.alloc(0)).entries())
      yield {
        organization_id: file.organizationId,
        file_id: file.id,
        position,
        bytes: `\\x${bytes.toString('hex')}`,
      }
  }
}

async function* filesInBucket(client: pg.ClientBase, organizationId?: OrganizationId): AsyncGenerator<StoredFile> {
  const condition = organizationId ? `and organization_id = ${client.escapeLiteral(organizationId)}` : ''
  await client.query(
    `declare files_in_bucket no scroll cursor for
      select organization_id as "organizationId", id, bytes::float8 as bytes from stored_files
      where in_bucket and hash is not null ${condition}
      order by organization_id, id`,
  )
  for (;;) {
    const { rows } = await client.query<StoredFile>(`fetch ${filesPerQuery} from files_in_bucket`)
    yield* rows
    if (rows.length < filesPerQuery) break
  }
  await client.query('close files_in_bucket')
}

async function read(bucket: Bucket, file: StoredFile): Promise<Buffer | undefined> {
  for (let attempt = 0; ; attempt++)
    try {
      return await bucket.get(keyOf(file), file.bytes)
    } catch (error) {
      if (!(error instanceof BucketFault)) throw error
      const delayMs = error.isPassing ? retryDelaysMs[attempt] : undefined
      if (delayMs === undefined)
        throw new SetupFault(`The images in the bucket ${bucket.name} cannot be read (${error.message}).`)
      await wait(delayMs)
    }
}
