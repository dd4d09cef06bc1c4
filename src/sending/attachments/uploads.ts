import { discardUploads, FileUpload, type FileUploadParts, type NewFile, sumFileBytes } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { FileId, OrganizationId } from '../../platform/values/ids.ts'

/** Requests with large bodies that are received or processed at the same time. Each takes a few megabytes of memory. */
const largeRequests = { perOrganization: 4, overall: 40, waitingPerOrganization: 50, waitMs: 5_000 }
/** Chunks of files that are written at the same time. A client that sends slowly holds none of these places. */
const chunkWrites = { perOrganization: 2, overall: 8, waitingPerOrganization: 200, waitMs: 30_000 }

/** How long the size of an organization's files is remembered. It may be exceeded by what is accepted meanwhile. */
const sizeMsMax = 10_000
const sizesMax = 10_000
const mib = 1024 * 1024

type Size = { bytes: number; readAt: number }

/** Receives files with requests. */
export class Uploads {
  readonly #db: Db
  readonly #bytesMax: number
  readonly #large: Stage
  readonly #writes: Stage
  readonly #sizes = new Map<OrganizationId, Size>()

  constructor(db: Db, stages: StageRegistry, { mibPerOrganization }: { mibPerOrganization: number }) {
    this.#db = db
    this.#large = stages.stage('large requests', 'client', largeRequests)
    this.#writes = stages.stage('chunk writes', 'service', chunkWrites)
    this.#bytesMax = mibPerOrganization * mib
  }

  /** Waits until another large request may be received. Throws `Refusal` if there are too many of them. */
  async begin(organizationId: OrganizationId): Promise<Upload> {
    return this.#open(organizationId, await this.#large.acquire(organizationId))
  }

  /** For an email that is received over SMTP, where the number of emails is limited. */
  beginSubmitted(organizationId: OrganizationId): Upload {
    return this.#open(organizationId, () => {})
  }

  #open(organizationId: OrganizationId, release: () => void): Upload {
    return new Upload({ db: this.#db, organizationId, writes: this.#writes, release })
  }

  /**
   * Throws `Refusal` if files of this size would exceed the storage of the organization, except for a repeated request, which
   * stores nothing.
   */
  async checkSpace(
    organizationId: OrganizationId,
    bytes: number,
    isRepeated: () => Promise<boolean> = async () => false,
  ): Promise<void> {
    const size = await this.#sizeOf(organizationId)
    if (size.bytes + bytes > this.#bytesMax) {
      if (await isRepeated()) return
      throw new Refusal(
        'conflict',
        `The attachments of your organization take more than ${this.#bytesMax / mib} MB. They are deleted 30 days after their emails are sent.`,
      )
    }
    size.bytes += bytes
  }

  async #sizeOf(organizationId: OrganizationId): Promise<Size> {
    const known = this.#sizes.get(organizationId)
    if (known && performance.now() - known.readAt < sizeMsMax) return known
    const size = { bytes: await sumFileBytes(this.#db, organizationId), readAt: performance.now() }
    if (this.#sizes.size >= sizesMax) this.#sizes.clear()
    this.#sizes.set(organizationId, size)
    return size
  }
}

type UploadParts = FileUploadParts & { release: () => void }

/** The files of one request. */
export class Upload {
  readonly #parts: UploadParts
  readonly #uploads: FileUpload[] = []
  readonly #files: ({ file: NewFile } | { problem: string })[] = []
  #isFinished = false

  constructor(parts: UploadParts) {
    this.#parts = parts
  }

  /** Starts the next file. The rest of a file with more than `bytesMax` bytes is discarded. */
  openFile(bytesMax: number, tooLarge: string) {
    const upload = new FileUpload(this.#parts)
    this.#uploads.push(upload)
    return {
      write: (bytes: Buffer) => (upload.bytes > bytesMax ? undefined : upload.write(bytes)),
      end: async (problem: string | null) => {
        const found = problem ?? (upload.bytes > bytesMax ? tooLarge : null)
        this.#files.push(found === null ? { file: await upload.end() } : { problem: found })
      },
    }
  }

  get(index: number) {
    return this.#files[index]
  }

  /** Must be called when the request is answered. Deletes the files that were not used. */
  async finish(): Promise<void> {
    if (this.#isFinished) return
    this.#isFinished = true
    const { db, organizationId, release } = this.#parts
    const ids = this.#uploads.flatMap(({ storedId }): FileId[] => (storedId ? [storedId] : []))
    try {
      // If it fails, they are deleted an hour later.
      if (ids.length > 0) await discardUploads(db, organizationId, ids).catch(() => {})
    } finally {
      release()
    }
  }
}
