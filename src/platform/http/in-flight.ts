import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../values/errors.ts'

/** More are kept only while they have requests in progress. */
const callersMax = 10_000
const retryAfterSeconds = 1
/** A caller with more refusals in a second does not wait as it should. */
const refusalsMax = 10
const secondMs = 1_000

type Caller = { requests: number; refusals: number; refusedSince: number }

const callerKey = Symbol('caller')
type CountedResponse = ServerResponse & { [callerKey]?: Caller }

/** Shared by all requests: a function for each would be garbage. */
function leave(this: CountedResponse): void {
  this[callerKey]!.requests--
}

/** Limits the requests of one caller, an API key or a user, that are in progress at the same time. */
export class RequestsInFlight {
  readonly #max: number
  readonly #callers = new Map<string, Caller>()

  /** `max` 0 means no limit. */
  constructor(max: number) {
    this.#max = max
  }

  /** Counts a request until it is answered or its connection is closed. Throws `Refusal` if the caller has too many. */
  begin(key: string, { raw }: FastifyReply): void {
    if (this.#max === 0) return
    const caller = this.#callerOf(key)
    if (caller.requests >= this.#max)
      throw new Refusal(
        'rate_limited',
        `You have ${this.#max} requests in progress. Wait for a response before you send another request.`,
        { retryAfterSeconds },
      )
    caller.requests++
    ;(raw as CountedResponse)[callerKey] = caller
    raw.on('close', leave)
  }

  /** Counts a refused request. Closes the connections of a caller who repeats refused requests at once. */
  refused(key: string, reply: FastifyReply): void {
    const caller = this.#callerOf(key)
    const now = performance.now()
    if (now - caller.refusedSince > secondMs) {
      caller.refusedSince = now
      caller.refusals = 0
    }
    if (++caller.refusals > refusalsMax) reply.header('connection', 'close')
  }

  #callerOf(key: string): Caller {
    const known = this.#callers.get(key)
    if (known) return known
    if (this.#callers.size >= callersMax)
      for (const [each, { requests }] of this.#callers) if (requests === 0) this.#callers.delete(each)
    const caller = { requests: 0, refusals: 0, refusedSince: 0 }
    this.#callers.set(key, caller)
    return caller
  }
}
