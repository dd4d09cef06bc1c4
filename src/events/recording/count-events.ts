import type { Tx } from '../../platform/db/db.ts'
import type { MessageId } from '../../platform/values/ids.ts'
import { type Counted, CounterChanges, type CountersToWrite } from './counters.ts'
import type { Dimension } from './flow-counters.sql.ts'
import { countValues, FlowCounterChanges } from './flow-counters.ts'
import { clickedLink, type First, type NewEvent } from './record.sql.ts'
import type { OutcomeChange } from './returned.ts'

/** New events, and what they change. */
type Counting = {
  events: readonly NewEvent[]
  firsts: readonly First[]
  outcomes: readonly OutcomeChange[]
}

type Change = { total?: number; uniques?: number; machine?: number }

export type CountedMessages = ReadonlyMap<MessageId, readonly Dimension[]>

/** Changes of all counters: those of organizations and flows, and those of flows by version, domain, link and reason. */
export class AllChanges {
  readonly #organizations = new CounterChanges()
  readonly #flows = new FlowCounterChanges()
  readonly #messages: CountedMessages

  constructor(messages: CountedMessages) {
    this.#messages = messages
  }

  /** `own` is what only the event tells: its link or reason, which count no uniques. */
  add(event: Counted & { messageId: MessageId | null }, at: Date, change: Change, own?: Dimension): void {
    this.#organizations.add(event, at, change)
    this.#flows.add(event, at, (event.messageId && this.#messages.get(event.messageId)) || none, change)
    if (own) this.#flows.add(event, at, [own], { ...change, uniques: 0 })
  }

  /** `decide` says which values are counted individually. */
  async rows(tx: Tx, decide: typeof countValues): Promise<CountersToWrite> {
    const flows = this.#flows.isEmpty ? [] : this.#flows.quarters(await decide(tx, this.#flows.values()))
    return { organizations: this.#organizations, flows }
  }
}

const none: readonly Dimension[] = []

/** Counts new events. */
export async function countEvents(
  tx: Tx,
  { events, firsts, outcomes }: Counting,
  messages: CountedMessages,
): Promise<CountersToWrite> {
  const changes = new AllChanges(messages)
  const firstEvents = new Set(firsts.map(({ event }) => event))
  for (const event of events) {
    const machine = event.machine ? 1 : 0
    const uniques = event.eventName === 'emailSent' || firstEvents.has(event) ? 1 : 0
    changes.add(event, event.occurredAt, { total: 1, uniques, machine }, ownDimension(event))
  }
  // Infinity means that only machines clicked before: nothing was counted.
  for (const { event, previousAt } of firsts)
    if (previousAt instanceof Date) changes.add(event, previousAt, { uniques: -1 })
  for (const outcome of outcomes) changes.add(outcome, outcome.at, { total: outcome.by, uniques: outcome.by })
  return changes.rows(tx, countValues)
}

export const linkDimension = (value: string): Dimension => ({ kind: 'link', value })

/** Reasons are short codes of the classifier. Any other text is not counted by reason. */
const reasonPattern = /^[ -~]{1,100}$/

function ownDimension(event: NewEvent): Dimension | undefined {
  const link = clickedLink(event)
  if (link !== null) return linkDimension(link)
  const reason = event.data.bounce?.reason
  return reason !== undefined && reasonPattern.test(reason) ? { kind: 'reason', value: reason } : undefined
}
