import { createHash } from 'node:crypto'
import type { PostOutcome } from '../webhooks/post-outcome.ts'
import { reasonInWords } from '../webhooks/post-outcome.ts'
import { createSafePost, type SafePost, type SafePostOptions } from '../webhooks/safe-post.ts'

/** For an upload as a whole: 4 MiB over a slow connection. */
const uploadMsMax = 60_000
const errorLengthMax = 300
const anyStatus = { acknowledge: '2xx', retry4xx: [] } as const

export type Bucket = {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

export type Upload = { file: string; body: Buffer; contentType: string }

/** Null, or why the file was not stored. */
export type UploadFault = string | null

/**
 * Uploads files to S3-compatible storage. Addresses are checked like those of webhooks. The connections are opened, and
 * the library that signs requests is loaded, when the first file is uploaded.
 */
export class Storage {
  readonly #options: Omit<SafePostOptions, 'timeoutMs'>
  readonly #timeoutMs: number
  #safePost: SafePost | undefined

  constructor(options: Omit<SafePostOptions, 'timeoutMs'>, timeoutMs = uploadMsMax) {
    this.#options = options
    this.#timeoutMs = timeoutMs
  }

  async put(target: Bucket, { file, body, contentType }: Upload): Promise<UploadFault> {
    const { AwsV4Signer } = await import('aws4fetch')
    const signer = new AwsV4Signer({
      method: 'PUT',
      url: `${target.endpoint}/${target.bucket}/${file}`,
      headers: {
        'content-type': contentType,
        'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      },
      service: 's3',
      region: target.region,
      accessKeyId: target.accessKeyId,
      secretAccessKey: target.secretAccessKey,
    })
    const { url, headers } = await signer.sign()
    this.#safePost ??= createSafePost({ ...this.#options, timeoutMs: this.#timeoutMs })
    const outcome = await this.#safePost.put(url.href, Object.fromEntries(headers), body, anyStatus)
    return faultOf(outcome)
  }

  close(): void {
    this.#safePost?.close()
  }
}

/** The text of an error document of S3, after the status. */
function faultOf(outcome: PostOutcome): UploadFault {
  if (outcome.kind === 'acknowledged') return null
  const status = 'statusCode' in outcome ? `Responded ${outcome.statusCode}` : reasonInWords(outcome)
  const text = outcome.responseBody ?? ''
  const parts = [/<Code>([^<]*)<\/Code>/, /<Message>([^<]*)<\/Message>/].flatMap((part) => part.exec(text)?.[1] ?? [])
  return [status, ...parts].join(': ').slice(0, errorLengthMax)
}
