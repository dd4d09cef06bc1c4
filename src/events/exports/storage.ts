import type { PostOutcome } from '../../platform/egress/post-outcome.ts'
import { reasonInWords } from '../../platform/egress/post-outcome.ts'
import { createSafePost, type SafePost, type SafePostOptions } from '../../platform/egress/safe-post.ts'
import { type BucketAccess, describeFault, signRequest } from '../../platform/object-storage/signed-request.ts'

/** For an upload as a whole: 4 MiB over a slow connection. */
const uploadMsMax = 60_000
const anyStatus = { acknowledge: '2xx', retry4xx: [] } as const

export type Upload = { file: string; body: Buffer; contentType: string }

/** Null, or why the file was not stored. */
export type UploadFault = string | null

/**
 * Uploads files to S3-compatible storage of customers. Addresses are checked like those of webhooks. The connections are
 * opened when the first file is uploaded.
 */
export class Storage {
  readonly #options: Omit<SafePostOptions, 'timeoutMs'>
  readonly #timeoutMs: number
  #safePost: SafePost | undefined

  constructor(options: Omit<SafePostOptions, 'timeoutMs'>, timeoutMs = uploadMsMax) {
    this.#options = options
    this.#timeoutMs = timeoutMs
  }

  async put(target: BucketAccess, { file, body, contentType }: Upload): Promise<UploadFault> {
    const { url, headers } = await signRequest(target, { method: 'PUT', key: file, body, contentType })
    this.#safePost ??= createSafePost({ ...this.#options, timeoutMs: this.#timeoutMs })
    const outcome = await this.#safePost.put(url, headers, body, anyStatus)
    return faultOf(outcome)
  }

  close(): void {
    this.#safePost?.close()
  }
}

function faultOf(outcome: PostOutcome): UploadFault {
  if (outcome.kind === 'acknowledged') return null
  const status = 'statusCode' in outcome ? `Responded ${outcome.statusCode}` : reasonInWords(outcome)
  return describeFault(status, outcome.responseBody ?? '')
}
