import type { Dispatcher } from 'undici'
import { answerBytesMax, answerText } from './answer-text.ts'
import type { Connection, Connections } from './connections.ts'
import { type PostOutcome, type PostResult, resultOfStatus } from './post-outcome.ts'
import { type ResponseRules, retryAfterSeconds } from './response-rules.ts'
import { becauseOf, isConnectionLoss, isLocalResourceError, PrivateAddress } from './unreachable.ts'

export type Parts = { timeoutMs: number; connections: Connections }

/** A single post, from start to outcome. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #startedAtMs = performance.now()
  readonly #timer: NodeJS.Timeout

  readonly #parts: Parts
  readonly #origin: string
  readonly #request: Dispatcher.DispatchOptions
  readonly #rules: ResponseRules
  readonly #resolve: (outcome: PostOutcome) => void
  #connection: Connection | undefined
  #sentAgain = false
  #settled = false
  #statusCode = 0
  #retryAfterSeconds = 0
  #location: string | undefined
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(
    parts: Parts,
    origin: string,
    request: Dispatcher.DispatchOptions,
    rules: ResponseRules,
    resolve: (outcome: PostOutcome) => void,
  ) {
    this.#parts = parts
    this.#origin = origin
    this.#request = request
    this.#rules = rules
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#expire(), parts.timeoutMs)
    this.#send(parts.connections.take(origin))
  }

  #send(connection: Connection): void {
    this.#connection = connection
    connection.client.dispatch(this.#request, this)
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[]>,
  ): void {
    this.#statusCode = statusCode
    if (statusCode >= 300 && statusCode < 400) this.#location = [headers.location].flat()[0]
    if (statusCode === 429) this.#retryAfterSeconds = retryAfterSeconds(headers['retry-after'])
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes <= answerBytesMax) return
    // The status decides; the rest of the body is not needed.
    this.#settle(this.#result())
    this.#drop()
  }

  onResponseEnd(): void {
    if (this.#settled) return
    this.#settle(this.#result())
    this.#parts.connections.release(this.#connection!)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#settled) return
    const wasStale = this.#connection!.used && this.#statusCode === 0 && isConnectionLoss(error)
    this.#drop()
    if (wasStale && !this.#sentAgain) {
      // The receiver closed the idle connection. If it had read the request before, it receives it twice, which
      // at-least-once delivery with the same webhook-id permits.
      this.#sentAgain = true
      this.#send(this.#parts.connections.open(this.#origin))
    } else {
      this.#settle(this.#refusal() ?? failureOf(error))
    }
  }

  #expire(): void {
    this.#settle(this.#refusal() ?? { kind: 'timed_out', timeoutMs: this.#parts.timeoutMs })
    this.#drop()
  }

  #result(): PostResult {
    return resultOfStatus(this.#statusCode, this.#rules, this.#retryAfterSeconds)
  }

  /** A final status stays final, even if the rest of the response fails. */
  #refusal(): PostResult | undefined {
    const result = this.#result()
    return result.kind === 'refused' ? result : undefined
  }

  #settle(result: PostResult): void {
    this.#settled = true
    clearTimeout(this.#timer)
    // Not a spread, which costs 12 of 65 µs per post.
    const outcome: PostOutcome = Object.assign(result, {
      durationMs: Math.round(performance.now() - this.#startedAtMs),
      responseBody: this.#statusCode === 0 ? null : answerText(this.#chunks),
    })
    if (this.#location !== undefined) outcome.location = this.#location
    this.#resolve(outcome)
  }

  #drop(): void {
    if (this.#connection) this.#parts.connections.drop(this.#connection)
  }
}

function failureOf(error: Error): PostResult {
  const because = becauseOf(error)
  if (isLocalResourceError(error)) return { kind: 'local_resource_error', because }
  return { kind: 'unreachable', because, isPrivate: error instanceof PrivateAddress }
}
