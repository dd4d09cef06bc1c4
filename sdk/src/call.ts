import { WaxwingError, type WaxwingErrorDetails } from './errors.ts'
import { pause } from './pause.ts'

export type CallOptions = {
  fetch: typeof fetch
  timeoutMs: number
  retries: number
  retryDelayMs: number
}

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer> | Blob
  /** Without it, the call is retried only if the server did not process it. */
  isRepeatable: boolean
  /** Cancels the call and its retries. */
  signal?: AbortSignal | undefined
}

const timeoutMsDefault = 30_000
const retriesDefault = 2
const retryDelayMsDefault = 250

/** Checks the options that all clients share, and fills in the defaults. */
export function clientOptions(options: Partial<CallOptions> & { baseUrl: string }): CallOptions & { baseUrl: string } {
  if (!/^https?:\/\//.test(options.baseUrl))
    throw new TypeError('baseUrl must be a URL such as https://waxwing.example.com.')
  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? timeoutMsDefault,
    retries: options.retries ?? retriesDefault,
    retryDelayMs: options.retryDelayMs ?? retryDelayMsDefault,
  }
}

// The maximum pause between two attempts, even if Retry-After is longer.
const waitMsMax = 30_000
const backoffMsMax = 8_000
/** Rate limited, unavailable, and responses of a proxy while the server restarts or is slow. */
const passingStatuses = [429, 502, 503, 504]

/**
 * Sends the request and returns the JSON of the response. Retries it after a pause if that can help: rate limited,
 * unavailable, no response, or an earlier attempt that is still in progress.
 */
export async function callApi<Answer>(call: Call, options: CallOptions): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    try {
      return await callOnce<Answer>(call, options)
    } catch (error) {
      if (!(error instanceof WaxwingError)) throw error
      const waitMs = pauseBefore(tries + 1, call, error, options)
      if (tries >= options.retries || waitMs === undefined) throw error
      await pause(waitMs, call.signal)
    }
  }
}

function pauseBefore(
  retry: number,
  { isRepeatable }: Call,
  error: WaxwingError,
  { retryDelayMs }: CallOptions,
): number | undefined {
  const isPassing = passingStatuses.includes(error.status ?? 0) || error.type === 'network' || error.type === 'timeout'
  const mayHelp = isRepeatable ? isPassing : error.status === 429
  if (!mayHelp) return undefined
  const backoffMs = Math.min(retryDelayMs * 2 ** (retry - 1), backoffMsMax)
  // Half fixed, half random, so that callers that failed together do not retry together.
  const waitMs = (error.retryAfterSeconds ?? 0) * 1000 + backoffMs * (0.5 + Math.random() / 2)
  return waitMs <= waitMsMax ? waitMs : undefined
}

async function callOnce<Answer>(call: Call, options: CallOptions): Promise<Answer> {
  const { method, url, headers, body = null, signal } = call
  const timeout = AbortSignal.timeout(options.timeoutMs)
  let response: Response
  let text: string
  try {
    response = await options.fetch(url, {
      method,
      headers,
      body,
      // A redirect would send the key to another server and turn a POST into a GET.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    text = await response.text()
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      throw new WaxwingError(`No response within ${options.timeoutMs / 1000} seconds.`, { type: 'timeout', cause })
    }
    throw new WaxwingError('The server could not be reached.', { type: 'network', cause })
  }
  const answer = parse(text)
  // Deleting a resource is answered with `data: null`.
  const hasData = answer?.data != null || (answer?.data === null && answer.status === 'success')
  if (!response.ok || !hasData) throw toError(response, answer)
  return answer as Answer
}

type FailedAnswer = { message: string; error: Pick<WaxwingErrorDetails, 'type' | 'fields'> & { request_id?: string } }
/** The response may come from a proxy, which sends its own JSON. */
type ParsedAnswer =
  | { data?: unknown; status?: unknown; message?: unknown; error?: { type?: unknown } | null }
  | null
  | undefined

function parse(text: string): ParsedAnswer {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isFailure = (answer: ParsedAnswer): answer is FailedAnswer =>
  typeof answer?.error?.type === 'string' && typeof answer.message === 'string'

function toError({ status, headers }: Response, answer: ParsedAnswer): WaxwingError {
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: secondsOf(headers.get('retry-after')),
  }
  if (!isFailure(answer))
    return new WaxwingError(`Unexpected answer with status ${status}.`, { ...details, type: 'unexpected_answer' })
  const { type, fields, request_id: requestId = details.requestId } = answer.error
  return new WaxwingError(answer.message, { ...details, type, fields, requestId })
}

/** Retry-After is either seconds or a date. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
