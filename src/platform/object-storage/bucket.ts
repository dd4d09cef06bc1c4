import type { Config } from '../config/config.ts'
import { type BucketAccess, describeFault, type ObjectRequest, signRequest } from './signed-request.ts'

/** For a request as a whole. */
const requestMsMax = 10_000
const uploadMsMax = 30_000
/** After a failure of the storage, nothing is requested for this time. */
const pauseMs = 1_000
/** Of what it answers, other than objects. */
const answerBytesMax = 64 * 1024

/** The storage did not do what was requested. The message says why, for the operator. */
export class BucketFault extends Error {
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean

  constructor(message: string, { isPassing = false, cause }: { isPassing?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.isPassing = isPassing
  }
}

/**
 * Objects in the bucket of the operator. Its address comes from the settings, so unlike those of users it may be in a
 * private network. Every method throws `BucketFault` if the storage fails.
 */
export class Bucket {
  readonly #access: BucketAccess
  readonly #scale: number
  #failed: { fault: BucketFault; at: number } | undefined

  /** `scale` shortens all times, in tests. */
  constructor(access: BucketAccess, scale = 1) {
    this.#access = access
    this.#scale = scale
  }

  get name(): string {
    return `${this.#access.bucket} at ${this.#access.endpoint}`
  }

  async put(key: string, body: Buffer, contentType: string): Promise<void> {
    await this.#request({ method: 'PUT', key, body, contentType }, answerBytesMax)
  }

  /** Returns undefined if there is no such object. Throws `BucketFault` if it is larger than `bytesMax`. */
  get(key: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.#request({ method: 'GET', key }, bytesMax)
  }

  /** Also succeeds if there is no such object. */
  async delete(key: string): Promise<void> {
    await this.#request({ method: 'DELETE', key }, answerBytesMax)
  }

  async #request(request: ObjectRequest, bytesMax: number): Promise<Buffer | undefined> {
    if (this.#failed && performance.now() - this.#failed.at < pauseMs * this.#scale) throw this.#failed.fault
    const { method } = request
    const { url, headers } = await signRequest(this.#access, request)
    const ms = (method === 'PUT' ? uploadMsMax : requestMsMax) * this.#scale
    try {
      const response = await fetch(url, {
        method,
        headers,
        ...(request.method === 'PUT' && { body: new Uint8Array(request.body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(ms),
      })
      const bytes = await readUpTo(response, response.ok ? bytesMax : answerBytesMax)
      if (response.ok) return bytes
      const document = bytes.toString()
      if (response.status === 404 && method !== 'PUT' && !document.includes('NoSuchBucket')) return undefined
      const isPassing = response.status >= 500 || response.status === 429
      throw new BucketFault(describeFault(`Responded ${response.status}`, document), { isPassing })
    } catch (error) {
      const fault = error instanceof BucketFault ? error : unreachable(error as Error, ms)
      if (fault.isPassing) this.#failed = { fault, at: performance.now() }
      throw fault
    }
  }
}

async function readUpTo(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > bytesMax) throw new BucketFault(`Sent more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The cause of a failed `fetch` says more than its message. */
function unreachable(error: Error & { cause?: unknown }, ms: number): BucketFault {
  const { message, code } = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException
  const reason =
    error.name === 'TimeoutError' ? `Did not respond within ${ms / 1_000} seconds` : `Unreachable: ${message || code}`
  return new BucketFault(reason, { isPassing: true, cause: error })
}

/** Returns undefined if images are stored in the database. */
export function bucketOf(config: Config): Bucket | undefined {
  const {
    IMAGES_S3_ENDPOINT: endpoint,
    IMAGES_S3_REGION: region,
    IMAGES_S3_BUCKET: bucket,
    IMAGES_S3_ACCESS_KEY_ID: accessKeyId,
    IMAGES_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = config
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) return undefined
  return new Bucket({ endpoint, region, bucket, accessKeyId, secretAccessKey })
}
