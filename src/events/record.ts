import { hash } from 'node:crypto'
import { type Db, isDataFault, isRetryable, type Tx } from '../db/db.ts'
import { retrying } from '../db/retrying.ts'
import type { Hints } from '../queue/hints.ts'
import { Batcher } from '../runtime/batcher.ts'
import type { EventId, MessageId } from '../values/ids.ts'
import { burstCandidates, detectBursts, mayHoldBurst } from './bursts.ts'
import { type Inserted, insertEvents, type NewEvent } from './record.sql.ts'

export { dataText, insertEventsAfter, type NewEvent } from './record.sql.ts'

/**
 * Returns the id of an event that can happen only once per message (`emailSent`), or once per kind (a hard bounce). It
 * consists of the timestamp of the message and a hash, so recording the event again, by any process at any time, yields
 * the same event.
 */
export function derivedEventId(messageId: MessageId, what: string): EventId {
  const digest = hash('sha256', `${messageId} ${what}`)
  return `${messageId.slice(0, 13)}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}` as EventId
}

/**
 * Records events together with their counters, the state of their messages and contacts, suppressions, and one delivery
 * per subscribed webhook. All events are written this way. Returns the ids of the events that were new. Give the hint
 * `webhook.deliver` after the commit.
 */
export async function recordEvents(tx: Tx, events: NewEvent[]): Promise<EventId[]> {
  const { newIds } = await write(tx, events)
  return newIds ? [...newIds] : events.map(({ id }) => id)
}

async function write(tx: Tx, events: NewEvent[]): Promise<Inserted> {
  if (events.length === 0) return { newIds: undefined, laterClickIds: new Set(), fannedOut: false }
  const inserted = await insertEvents(tx, events)
  await detectBursts(tx, burstCandidates(events, inserted))
  return inserted
}

const batchMax = 500
const waitingMax = 20_000
const triesMax = 5

/** Records single events in batches. When `record` resolves, the event is committed. */
export class EventRecorder {
  readonly #db: Db
  readonly #hints: Hints
  readonly #batcher: Batcher<NewEvent, boolean>

  constructor({ db, hints }: { db: Db; hints: Hints }) {
    this.#db = db
    this.#hints = hints
    this.#batcher = new Batcher({
      name: 'record events',
      run: (events) => this.#run(events),
      itemsMax: batchMax,
      waitingMax,
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      // An event with data that PostgreSQL rejects must not fail the other events of its batch.
      splitOn: isDataFault,
    })
  }

  /** Resolves to false if the event was recorded before. */
  record(event: NewEvent): Promise<boolean> {
    return this.#batcher.add(event)
  }

  /** Resolves when all events passed so far are committed. */
  drained(): Promise<void> {
    return this.#batcher.drained()
  }

  async #run(events: NewEvent[]) {
    const { newIds, fannedOut } = await this.#write(events)
    if (fannedOut) this.#hints.notify('webhook.deliver')
    if (!newIds) return events.map(() => ({ ok: true as const, value: true }))
    // An event that occurs twice in one batch is reported as new once.
    const unreported = new Set(newIds)
    return events.map(({ id }) => ({ ok: true as const, value: unreported.delete(id) }))
  }

  /**
   * Writes without a transaction, whose round trips would keep the counter rows locked. A burst that includes clicks
   * recorded earlier is labelled in a second step; if the process ends before it, the next click of the burst labels
   * it.
   */
  async #writeAlone(events: NewEvent[]): Promise<Inserted> {
    const inserted = await insertEvents(this.#db.statement, events)
    const candidates = burstCandidates(events, inserted)
    if (candidates.length > 0) await this.#db.begin((tx) => detectBursts(tx, candidates))
    return inserted
  }

  #write(events: NewEvent[]): Promise<Inserted> {
    const once = () => (mayHoldBurst(events) ? this.#db.begin((tx) => write(tx, events)) : this.#writeAlone(events))
    return retrying(triesMax, once, mayRecordAgain)
  }
}

/**
 * Returns true for transient errors. One of them is a check violation on the default partition: the row was waiting for
 * it while the partition of its month was being created.
 */
export function mayRecordAgain(error: unknown): boolean {
  const { code, table } = (error ?? {}) as { code?: unknown; table?: unknown }
  return isRetryable(error) || (code === '23514' && table === 'events_default')
}
