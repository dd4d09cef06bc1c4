import { busy, tooMany } from '../../platform/runtime/stage.ts'
import type { StageState } from '../../platform/runtime/stage-state.ts'

export type StreamLimits = {
  perOrganization: number
  /** Of all organizations. */
  overall: number
  /** A stream that only changes places with one of another organization has been open for this long. */
  turnMs: number
}

type Stream = { startedAt: number; controller: AbortController; ended: Promise<void> }

/**
 * Streams of events that are open. Each holds a connection and a page of events in memory for minutes. While all places are
 * in use, a new stream ends the oldest one of the organization that has the most, whose client continues with its cursor, and
 * is refused if its own organization has as many. If that organization has one stream more, they only change places, which is
 * limited in time: otherwise clients that connect again would end the streams of each other all the time.
 */
export class EventStreams implements StageState {
  /** A stream is opened or refused at once. */
  readonly waiting = 0
  readonly #limits: StreamLimits
  /** Those of an organization in the order in which they started. */
  readonly #streams = new Map<string, Set<Stream>>()
  #used = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  get limits() {
    const { perOrganization, overall } = this.#limits
    return { perOrganization, overall, waitingPerOrganization: 0, waitingMax: overall }
  }

  get used(): number {
    return this.#used
  }

  /** Returns what `work` returns. Its signal is aborted when the stream has to end. Throws `Refusal` if there is no place. */
  async run<Result>(organizationId: string, work: (end: AbortSignal) => Promise<Result>): Promise<Result> {
    const openStreams = this.#streams.get(organizationId)?.size ?? 0
    if (openStreams >= this.#limits.perOrganization) throw tooMany()
    const before = this.#used < this.#limits.overall ? undefined : this.#endOne(openStreams)
    const controller = new AbortController()
    // Not before the other one has ended: until then it uses its connection and its memory.
    const working = Promise.resolve(before).then(() => work(controller.signal))
    const stream = { startedAt: performance.now(), controller, ended: working.then(nothing, nothing) }
    this.#add(organizationId, stream)
    return working.finally(() => this.#remove(organizationId, stream))
  }

  /** Ends a stream in favor of an organization that has `openStreams`. Resolves when it has ended. */
  #endOne(openStreams: number): Promise<void> {
    let most = openStreams
    let found: { organizationId: string; oldest: Stream } | undefined
    for (const [organizationId, streams] of this.#streams) {
      const [oldest] = streams
      const isOlder = found && streams.size === most && oldest!.startedAt < found.oldest.startedAt
      if (streams.size <= most && !isOlder) continue
      most = streams.size
      found = { organizationId, oldest: oldest! }
    }
    if (!found) throw busy()
    const { organizationId, oldest } = found
    if (most === openStreams + 1 && performance.now() - oldest.startedAt < this.#limits.turnMs) throw busy()
    this.#remove(organizationId, oldest)
    oldest.controller.abort()
    return oldest.ended
  }

  #add(organizationId: string, stream: Stream): void {
    const streams = this.#streams.get(organizationId)
    if (streams) streams.add(stream)
    else this.#streams.set(organizationId, new Set([stream]))
    this.#used++
  }

  #remove(organizationId: string, stream: Stream): void {
    const streams = this.#streams.get(organizationId)
    if (!streams?.delete(stream)) return
    this.#used--
    if (streams.size === 0) this.#streams.delete(organizationId)
  }
}

const nothing = () => {}
