import { LRUCache } from 'lru-cache'
import type { Db } from '../../platform/db/db.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { BucketFiles } from '../files/bucket-files.ts'
import { isFileGone, readWholeFile } from '../files/files.ts'
import { type ImageAddress, isAddressOf, readImageAddress } from './address.ts'
import { findImage } from './images.sql.ts'

const mib = 1024 * 1024
const cacheBytesMax = 32 * mib
/** After this time, a deleted image is gone in every process. */
const cacheMs = 60_000
/** Images that are read from the database at the same time. The organization is the one in the address. */
const reads = { perOrganization: 4, overall: 8, waitingPerOrganization: 200, waitMs: 5_000 }
/** From the bucket. Apart from the others, so that storage that does not respond delays only the images in it. */
const bucketReads = { perOrganization: 8, overall: 32, waitingPerOrganization: 200, waitMs: 5_000 }
/** For how long it is remembered that there is no image at an address, so that it is searched for once. */
const missingMs = 5_000
/** About 2 MB of memory. */
const missingMax = 10_000
/** Of the different images that are being sent to slow readers. */
const sendingBytesMax = { perOrganization: 32 * mib, overall: 128 * mib }

export type ServedImage = { organizationId: string; contentType: string; etag: string; content: Buffer }

/**
 * Reads images for their public addresses. An image is read once for all requests at the same time, and kept in memory for
 * a while. However many requests there are, few database connections and a limited amount of memory are used.
 */
export class ServedImages {
  readonly #db: Db
  readonly #bucketFiles: BucketFiles
  readonly #reads: Stage
  readonly #bucketReads: Stage
  readonly #reading = new Map<string, Promise<ServedImage | undefined>>()
  readonly #sending = new Map<ServedImage, number>()
  readonly #missing = createCache<string, true>(missingMax, { ttl: missingMs })
  /** Created by the first request. */
  #cache: LRUCache<string, ServedImage> | undefined

  constructor(db: Db, bucketFiles: BucketFiles, stages: StageRegistry) {
    this.#db = db
    this.#bucketFiles = bucketFiles
    this.#reads = stages.stage('image reads', 'service', reads)
    this.#bucketReads = stages.stage('image reads from the bucket', 'service', bucketReads)
  }

  /** Whether finding the image, or that there is none, needs no query. */
  isKnown(file: string): boolean {
    return (
      this.#cache?.has(file) ||
      this.#reading.has(file) ||
      this.#missing.has(file) ||
      readImageAddress(file) === undefined
    )
  }

  /**
   * Returns undefined if there is no image at this address. Throws `Refusal` if too many images are being read, or the
   * bucket is unavailable.
   */
  async find(file: string): Promise<ServedImage | undefined> {
    this.#cache ??= new LRUCache({
      maxSize: cacheBytesMax,
      ttl: cacheMs,
      sizeCalculation: ({ content }) => content.length,
    })
    const known = this.#cache.get(file)
    if (known) return known
    if (this.#missing.has(file)) return undefined
    const address = readImageAddress(file)
    if (!address) return undefined
    const reading = this.#reading.get(file) ?? this.#read(file, address)
    return reading
  }

  #read(file: string, address: ImageAddress): Promise<ServedImage | undefined> {
    const reading = this.#load(address)
      .then((image) => {
        if (image) this.#cache!.set(file, image)
        else this.#missing.set(file, true)
        return image
      })
      .finally(() => this.#reading.delete(file))
    this.#reading.set(file, reading)
    return reading
  }

  async #load(address: ImageAddress): Promise<ServedImage | undefined> {
    // If its file is gone, the image was deleted, or is being moved to the bucket and has got another file.
    for (let attempt = 0; attempt < 2; attempt++)
      try {
        return await this.#loadOnce(address)
      } catch (error) {
        if (!isFileGone(error)) throw error
      }
    return undefined
  }

  async #loadOnce(address: ImageAddress): Promise<ServedImage | undefined> {
    const { organizationId, id } = address
    const found = await this.#reads.run(organizationId, async () => {
      const image = await findImage(this.#db, organizationId, id)
      if (!image || !isAddressOf(address, image)) return undefined
      const inBucket = await this.#bucketFiles.find(organizationId, image.fileId)
      if (inBucket) return { image, inBucket }
      return { image, content: await readWholeFile(this.#db, organizationId, image.fileId, image.bytes) }
    })
    if (!found) return undefined
    const { image, inBucket } = found
    const content = inBucket
      ? await this.#bucketReads.run(organizationId, () => this.#bucketFiles.read(inBucket, image.bytes))
      : found.content
    return { organizationId, contentType: image.contentType, etag: `"${image.id}"`, content }
  }

  /** Returns whether the image may be sent now. If so, `end` must be called when it was. */
  begin(image: ServedImage): boolean {
    const count = this.#sending.get(image) ?? 0
    if (count === 0 && !this.#hasRoomFor(image)) return false
    this.#sending.set(image, count + 1)
    return true
  }

  end(image: ServedImage): void {
    const count = this.#sending.get(image)! - 1
    if (count > 0) this.#sending.set(image, count)
    else this.#sending.delete(image)
  }

  #hasRoomFor({ organizationId, content }: ServedImage): boolean {
    let [all, same] = [content.length, content.length]
    for (const sent of this.#sending.keys()) {
      all += sent.content.length
      if (sent.organizationId === organizationId) same += sent.content.length
    }
    return all <= sendingBytesMax.overall && same <= sendingBytesMax.perOrganization
  }
}
