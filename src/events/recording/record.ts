import { Counter, type Registry } from 'prom-client'
import { createNodeBatcher, type DbBatcherOptions, type ItemBatcher } from '../../platform/db/cluster/batches.ts'
import { type Db, isDataFault, isRetryable, type Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import { areHandedOver } from '../../platform/queue/queue.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { type EventData, eventNames } from '../../platform/values/event-types.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { type ContactId, derivedId, type EventId, type MessageId } from '../../platform/values/ids.ts'
import type { WebhookEvent } from '../webhooks/envelope.ts'
import { fanOut, findSubscriptions, type Subscription } from '../webhooks/fan-out.ts'
import type { ClickWindow } from './bursts.sql.ts'
import { burstCandidates, findSuspects, labelBursts, mayHoldBurst } from './bursts.ts'
import { changeMessages, changeRecipients, suppressAddresses } from './consequences.ts'
import { countEvents } from './count-events.ts'
import { writeCounters } from './counters.ts'
import { contactsOf, countedMessagesOf, type KnownMessage, withTags } from './known-messages.ts'
import { writeCountersSoon } from './pending-counts.ts'
import {
  type EventContact,
  type First,
  insertEvents,
  insertFirstOccurrences,
  mayBeFirst,
  type NewEvent,
  subjectOf,
} from './record.sql.ts'
import { findOutcomeChanges } from './returned.ts'
import { reactionsTo } from './simulated-reactions.ts'

export type { NewEvent } from './record.sql.ts'

/**
 * Returns the id of an event that can happen only once per message (`emailSent`), or once per kind (a hard bounce). It
 * consists of the timestamp of the message and a hash, so recording the event again, by any process at any time, yields
 * the same event.
 */
export const derivedEventId = (messageId: MessageId, kind: string): EventId =>
  derivedId('evt', messageId, messageId, kind)

export type Recorded = {
  /** Nothing was recorded, because an event was recorded before (`expectNew`). */
  isRolledBack?: boolean
  /** The events that were not recorded before. */
  fresh: NewEvent[]
  /** The messages whose clicks may be those of a scanner. */
  suspects: ClickWindow[]
}

type RecordOptions = {
  /** True if the caller has updated the state of the messages. */
  messagesAreUpdated?: boolean
  /** Messages of these events that the caller has locked or inserted. Others are looked up. */
  knownMessages?: readonly KnownMessage[]
  /** The webhooks of these organizations, if the caller has looked them up (`findSubscriptionsOf`). */
  subscriptions?: readonly Subscription[]
  /** True if counters may be changed within a second after the commit, if there are many. */
  mayCountLater?: boolean
  /**
   * Saves a round trip by writing first occurrences before it is known which events are new. Rolls back if that
   * was wrong, so the transaction must be repeated without it.
   */
  expectNew?: boolean
}

/** What a transaction that recorded events announces after its commit. */
export class EventsRecorded {
  readonly events: readonly NewEvent[]
  constructor(events: readonly NewEvent[]) {
    this.events = events
  }
}

export const findSubscriptionsOf = (tx: Tx, events: readonly NewEvent[]): Promise<Subscription[]> =>
  findSubscriptions(tx, [...new Set(events.map(({ organizationId }) => organizationId))], {
    withEndpoints: areHandedOver(tx, events.length),
  })

/**
 * Records events together with their counters, the state of their messages and contacts, suppressions, and one delivery
 * per subscribed webhook. All events are written this way. Clicks made by a machine are labelled.
 */
export async function recordEvents(
  tx: Tx,
  events: readonly NewEvent[],
  options: RecordOptions = {},
): Promise<Recorded> {
  const recorded = await writeEvents(tx, events, options)
  await labelBursts(tx, recorded.suspects)
  return recorded
}

/**
 * Every further change is derived from the events that were new, so recording an event twice has no effect. Shared rows
 * are locked in key order, the counters last.
 */
async function writeEvents(
  tx: Tx,
  given: readonly NewEvent[],
  {
    messagesAreUpdated = false,
    knownMessages = [],
    subscriptions: known,
    mayCountLater = false,
    expectNew = false,
  }: RecordOptions = {},
): Promise<Recorded> {
  if (given.length === 0) return { fresh: [], suspects: [] }
  const [subscriptions, contacts, { dimensions, tags }] = await Promise.all([
    known ?? findSubscriptionsOf(tx, given),
    contactsOf(tx, given, knownMessages),
    countedMessagesOf(tx, given, knownMessages),
  ])
  const events = withTags(given, tags)
  const inserting = insertEvents(tx, inKeyOrder(events), contacts)
  const [inserted, firstsExpected] = await Promise.all([
    inserting,
    expectNew ? recordFirstOccurrences(tx, events) : undefined,
  ])
  const rows = new Map(inserted.map((row) => [row.id, row]))
  const fresh = withIds(events, [...rows.keys()])
  const firsts = firstsExpected ?? (await recordFirstOccurrences(tx, fresh))
  // An event that was recorded before would have become a first occurrence: it was labelled as made by a machine.
  if (firstsExpected && !areOf(fresh, firsts)) return tx.rollback({ fresh: [], suspects: [], isRolledBack: true })
  if (!messagesAreUpdated) changeMessages(tx, fresh)
  const bounced = messagesAreUpdated ? [] : await changeRecipients(tx, fresh)
  const outcomes = await findOutcomeChanges(tx, fresh, firsts, knownMessages)
  await suppressAddresses(tx, fresh, contacts)
  const [counted, suspects] = await Promise.all([
    countEvents(tx, { events: fresh, firsts, outcomes }, dimensions),
    findSuspects(tx, burstCandidates({ fresh, laterClickIds: laterClicks(fresh, firsts) })),
  ])
  const handOver = (event: NewEvent) => toWebhookEvent(event, rows.get(event.id)?.data, contacts)
  // Suspicious clicks may be labelled before their webhook is posted, so they are loaded then.
  fanOut(tx, fresh, subscriptions, suspects.length === 0 ? handOver : undefined)
  const counters = { ...counted, bounced }
  if (mayCountLater) writeCountersSoon(tx, counters)
  else writeCounters(tx, counters)
  if (fresh.length > 0) tx.announce(new EventsRecorded(fresh))
  await writeEvents(tx, reactionsTo(fresh, contacts), { knownMessages })
  return { fresh, suspects }
}

/** The event as it is stored, for its webhooks. */
function toWebhookEvent(
  event: NewEvent,
  storedData: EventData | undefined,
  contacts: ReadonlyMap<ContactId, EventContact>,
): WebhookEvent {
  const { email, firstName } = contacts.get(event.contactId) ?? { email: null, firstName: null }
  return { ...event, data: storedData ?? event.data, contact: { id: event.contactId, email, firstName } }
}

/** In the order of their keys, so that two transactions that record the same events cannot deadlock. */
const inKeyOrder = (events: readonly NewEvent[]) => events.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Returns the events with these ids. Duplicates are returned once. */
function withIds(events: readonly NewEvent[], ids: readonly EventId[]): NewEvent[] {
  if (ids.length === events.length) return [...events]
  const left = new Set(ids)
  return events.filter(({ id }) => left.delete(id))
}

const occurrenceKey = (subjectId: string, eventName: string) => `${subjectId} ${eventName}`

async function recordFirstOccurrences(tx: Tx, events: readonly NewEvent[]): Promise<First[]> {
  const earliest = new Map<string, NewEvent>()
  for (const event of events) {
    if (!mayBeFirst(event)) continue
    const key = occurrenceKey(subjectOf(event), event.eventName)
    const known = earliest.get(key)
    if (!known || event.occurredAt < known.occurredAt) earliest.set(key, event)
  }
  if (earliest.size === 0) return []
  const inOrder = [...earliest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event)
  const rows = await insertFirstOccurrences(tx, inOrder)
  return rows.map((row) => ({ ...row, event: earliest.get(occurrenceKey(row.subjectId, row.eventName))! }))
}

function areOf(events: readonly NewEvent[], firsts: readonly First[]): boolean {
  const all = new Set(events)
  return firsts.every(({ event }) => all.has(event))
}

/** Returns new human clicks, except the first one on a message if it is among these events. */
function laterClicks(events: readonly NewEvent[], firsts: readonly First[]): Set<EventId> {
  const clicks = events.filter(({ eventName, machine }) => eventName === 'emailClick' && !machine)
  const firstOn = new Set(
    firsts.flatMap(({ event, previousAt }) =>
      event.eventName === 'emailClick' && previousAt === null ? [event.messageId] : [],
    ),
  )
  return new Set(clicks.flatMap(({ id, messageId }) => (firstOn.has(messageId) ? [] : [id])))
}

const batchMax = 500
const waitingMax = 20_000
const waitingPerOrganization = 10_000
const triesMax = 5

/** Counts the events that the recorders of this process record. `emailSent` is recorded with its message. */
export function createEventCounter(registry: Registry): Counter<'event'> {
  const counter = new Counter({
    name: 'waxwing_events_total',
    help: 'Opens, clicks, unsubscriptions, and reported bounces and complaints that this process recorded.',
    labelNames: ['event'],
    registers: [registry],
  })
  for (const event of eventNames) if (event !== 'emailSent') counter.inc({ event }, 0)
  return counter
}

export type EventRecorderOptions = {
  db: Db
  stages: StageRegistry
  counter?: Counter<'event'>
  /** Among the stages of the service. */
  name?: string
}

/** Records single events in batches. When `record` resolves, the event is committed. */
export class EventRecorder {
  readonly #db: Db
  readonly #counter: Counter<'event'> | undefined
  readonly #batcher: ItemBatcher<NewEvent, boolean>

  constructor({ db, stages, counter, name = 'record events' }: EventRecorderOptions) {
    this.#db = db
    this.#counter = counter
    const options: DbBatcherOptions<NewEvent, boolean> = {
      name,
      organizationOf: ({ organizationId }) => organizationId,
      run: (events) => this.#run(events),
      itemsMax: batchMax,
      waitingPerOrganization,
      waitingMax,
      // While one batch is being committed, this process prepares the next.
      concurrency: 2,
      // An event with data that PostgreSQL rejects must not fail the other events of its batch.
      splitOn: isDataFault,
    }
    this.#batcher = createNodeBatcher(db, stages, options)
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
    const { fresh } = await retrying(triesMax, () => this.#write(events), mayRecordAgain)
    for (const [event, { length }] of groupBy(fresh, ({ eventName }) => eventName))
      this.#counter?.inc({ event }, length)
    const unreported = new Set(fresh)
    return events.map((event) => ({ ok: true as const, value: unreported.delete(event) }))
  }

  /**
   * Bursts are labelled in a second transaction, so that the counters are not locked while that takes place, unless
   * these events alone may be a burst. If the process ends before it, the next click of the burst labels them.
   */
  async #write(events: NewEvent[]): Promise<Recorded> {
    const rows = events.length
    const mayCountLater = true
    if (mayHoldBurst(events)) return this.#db.begin((tx) => recordEvents(tx, events, { mayCountLater }), { rows })
    const write = (expectNew: boolean) =>
      this.#db.begin((tx) => writeEvents(tx, events, { mayCountLater, expectNew }), { rows })
    const expected = await write(true)
    const recorded = expected.isRolledBack ? await write(false) : expected
    const { suspects } = recorded
    if (suspects.length > 0) await this.#db.begin((tx) => labelBursts(tx, suspects), { rows })
    return recorded
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
