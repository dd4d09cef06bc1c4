import type { Db } from '../db/db.ts'
import type { Stage } from '../runtime/stage.ts'
import type { StageRegistry } from '../runtime/stage-registry.ts'
import { Refusal } from '../values/errors.ts'
import type { FileId, OrganizationId } from '../values/ids.ts'
import { sumFileBytes } from './files.sql.ts'
import { discardUploads, FileUpload, type NewFile } from './files.ts'

/** Requests with large bodies that are received or processed at the same time. Each takes a few megabytes of memory. */
const largeRequests = { perOrganization: 4, overall: 16, waitingPerOrganization: 50, waitMs: 5_000 }

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
  readonly #sizes = new Map<OrganizationId, Size>()

  constructor(db: Db, stages: StageRegistry, { mibPerOrganization }: { mibPerOrganization: number }) {
    this.#db = db
    this.#large = stages.stage('large requests', largeRequests)
    this.#bytesMax = mibPerOrganization * mib
  }

  /** Waits until another large request may be received. Throws `Refusal` if there are too many of them. */
  async begin(organizationId: OrganizationId): Promise<Upload> {
    await this.checkSpace(organizationId, 0)
    return new Upload(this.#db, organizationId, await this.#large.acquire(organizationId))
  }

  /** Throws `Refusal` if files of this size would exceed the storage of the organization. */
  async checkSpace(organizationId: OrganizationId, bytes: number): Promise<void> {
    const size = await this.#sizeOf(organizationId)
    if (size.bytes + bytes > this.#bytesMax)
      throw new Refusal(
        'conflict',
        `The attachments of your organization take more than ${this.#bytesMax / mib} MB. They are deleted 30 days after their emails are sent.`,
      )
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

/** The files of one request. */
export class Upload {
  readonly #db: Db
  readonly #organizationId: OrganizationId
  readonly #release: () => void
  readonly #uploads: FileUpload[] = []
  readonly #files: ({ file: NewFile } | { problem: string })[] = []
  #isFinished = false

  constructor(db: Db, organizationId: OrganizationId, release: () => void) {
    this.#db = db
    this.#organizationId = organizationId
    this.#release = release
  }

  /** Starts the next file. The rest of a file with more than `bytesMax` bytes is discarded. */
  openFile(bytesMax: number, tooLarge: string) {
    const upload = new FileUpload(this.#db, this.#organizationId)
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
    const ids = this.#uploads.flatMap(({ storedId }): FileId[] => (storedId ? [storedId] : []))
    try {
      // If it fails, they are deleted an hour later.
      if (ids.length > 0) await discardUploads(this.#db, this.#organizationId, ids).catch(() => {})
    } finally {
      this.#release()
    }
  }
}
