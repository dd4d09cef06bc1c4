import { isAscii } from 'node:buffer'
import { chunkBytes, type NewFile, smallFile } from '../../content/content.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Upload, Uploads } from '../attachments/uploads.ts'

type OpenFile = ReturnType<Upload['openFile']>

/** Stores the body of an email as it arrives. */
export class BodyUpload {
  readonly #uploads: Uploads
  readonly #organizationId: OrganizationId
  /** The start of the body, until it is larger than a chunk. */
  #start: Buffer[] = []
  #bytes = 0
  #isAscii = true
  #upload: Upload | undefined
  #file: OpenFile | undefined

  constructor(uploads: Uploads, organizationId: OrganizationId) {
    this.#uploads = uploads
    this.#organizationId = organizationId
  }

  get isAscii(): boolean {
    return this.#isAscii
  }

  async write(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length
    this.#isAscii &&= isAscii(chunk)
    if (this.#file) return this.#file.write(chunk)
    this.#start.push(chunk)
    if (this.#bytes <= chunkBytes) return
    this.#upload = this.#uploads.beginSubmitted(this.#organizationId)
    this.#file = this.#upload.openFile(Number.POSITIVE_INFINITY, '')
    const start = Buffer.concat(this.#start)
    this.#start = []
    await this.#file.write(start)
  }

  async end(): Promise<NewFile> {
    if (!this.#file) return smallFile(Buffer.concat(this.#start))
    await this.#file.end(null)
    return (this.#upload!.get(0) as { file: NewFile }).file
  }

  /** Must be called in the end. Deletes what was stored if no email was accepted with it. */
  async finish(): Promise<void> {
    await this.#upload?.finish()
  }
}
