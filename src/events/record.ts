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
 * The id of what happens to a message once (`emailSent`), or once in this way (this bounce): the message's time and a
 * hash. Recorded twice, by whatever process and however long after, it is one event.
 */
export function derivedEventId(messageId: MessageId, what: string): EventId {
  const digest = hash('sha256', `${messageId} ${what}`)
  return `${messageId.slice(0, 13)}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}` as EventId
}

/**
 * The one way in which an event is written: with it its counters, the state of its message and contact, suppressions,
 * and one delivery for each webhook that wants it. Answers with the ids that were new. After the commit, give the hint
 * `webhook.deliver`.
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

/** Records single events in batches: what `record` resolved with is on the disk. */
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
      // While the database writes one batch, this process answers the other.
      concurrency: 2,
      // What the database refuses to store is refused alone.
      splitOn: isDataFault,
    })
  }

  /** False for an event that was recorded before. */
  record(event: NewEvent): Promise<boolean> {
    return this.#batcher.add(event)
  }

  /** Resolves when everything given so far is written. */
  drained(): Promise<void> {
    return this.#batcher.drained()
  }

  async #run(events: NewEvent[]) {
    const { newIds, fannedOut } = await this.#write(events)
    if (fannedOut) this.#hints.give('webhook.deliver')
    if (!newIds) return events.map(() => ({ ok: true as const, value: true }))
    // An event given twice in one batch is new once.
    const untold = new Set(newIds)
    return events.map(({ id }) => ({ ok: true as const, value: untold.delete(id) }))
  }

  /**
   * Without a transaction around it: its round trips would hold the counters of everybody. A burst together with clicks
   * recorded before is labelled right behind; should the process end between the two, the burst's next click finds it.
   */
  async #writeAlone(events: NewEvent[]): Promise<Inserted> {
    const inserted = await insertEvents(this.#db.alone, events)
    const candidates = burstCandidates(events, inserted)
    if (candidates.length > 0) await this.#db.begin((tx) => detectBursts(tx, candidates))
    return inserted
  }

  #write(events: NewEvent[]): Promise<Inserted> {
    const once = () => (mayHoldBurst(events) ? this.#db.begin((tx) => write(tx, events)) : this.#writeAlone(events))
    return retrying(triesMax, once, mayRecordAgain)
  }
}

/** True when recording failed for now only: also when a row waited for the default partition while its month got its own. */
export function mayRecordAgain(error: unknown): boolean {
  const { code, table } = (error ?? {}) as { code?: unknown; table?: unknown }
  return isRetryable(error) || (code === '23514' && table === 'events_default')
}
