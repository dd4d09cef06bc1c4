import { WaxwingError, type WaxwingErrorDetails } from './errors.ts'

export type CallOptions = {
  fetch: typeof fetch
  timeoutMs: number
  retries: number
  retryDelayMs: number
}

export type Call = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: string
}

// The maximum pause between two attempts, even if Retry-After is longer.
const waitMsMax = 30_000
const backoffMsMax = 8_000
/** Rate limited, unavailable, and responses of a proxy while the server restarts or is slow. */
const passingStatuses = [429, 502, 503, 504]

/**
 * Sends the request and retries it after a pause if that can help: rate limited, unavailable, no response,
 * or an earlier attempt that is still in progress. All requests sent through here are idempotent.
 */
export async function callApi<Data>(call: Call, options: CallOptions): Promise<Data> {
  for (let tries = 0; ; tries++) {
    try {
      return await callOnce<Data>(call, options)
    } catch (error) {
      if (!(error instanceof WaxwingError)) throw error
      const waitMs = pauseBefore(tries + 1, error, options)
      if (tries >= options.retries || waitMs === undefined) throw error
      await new Promise((resume) => setTimeout(resume, waitMs))
    }
  }
}

function pauseBefore(retry: number, error: WaxwingError, { retryDelayMs }: CallOptions): number | undefined {
  const mayHelp =
    passingStatuses.includes(error.status ?? 0) ||
    error.type === 'network' ||
    error.type === 'timeout' ||
    error.type === 'idempotency_in_progress'
  if (!mayHelp) return undefined
  const backoffMs = Math.min(retryDelayMs * 2 ** (retry - 1), backoffMsMax)
  // Half fixed, half random, so that callers that failed together do not retry together.
  const waitMs = (error.retryAfterSeconds ?? 0) * 1000 + backoffMs * (0.5 + Math.random() / 2)
  return waitMs <= waitMsMax ? waitMs : undefined
}

async function callOnce<Data>({ url, ...init }: Call, options: CallOptions): Promise<Data> {
  let response: Response
  let text: string
  try {
    // A redirect would send the key to another server and turn a POST into a GET.
    response = await options.fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    text = await response.text()
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      throw new WaxwingError(`No response within ${options.timeoutMs / 1000} seconds.`, { type: 'timeout', cause })
    }
    throw new WaxwingError('The server could not be reached.', { type: 'network', cause })
  }
  const answer = parse(text)
  if (!response.ok || answer?.data == null) throw toError(response, answer)
  return answer.data as Data
}

type Failure = { message: string; error: Pick<WaxwingErrorDetails, 'type' | 'fields'> & { request_id?: string } }
/** The response may come from a proxy, which sends its own JSON. */
type Answer = { data?: unknown; message?: unknown; error?: { type?: unknown } | null } | null | undefined

function parse(text: string): Answer {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isFailure = (answer: Answer): answer is Failure =>
  typeof answer?.error?.type === 'string' && typeof answer.message === 'string'

function toError({ status, headers }: Response, answer: Answer): WaxwingError {
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
