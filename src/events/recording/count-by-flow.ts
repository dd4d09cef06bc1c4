import type { Tx } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import type { FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Counting } from './counters.ts'
import { type Dimension, type FlowCounterRow, findCountedMessages } from './flow-counters.sql.ts'
import { countValues, FlowCounterChanges, findCountedValues } from './flow-counters.ts'
import { clickedLink, type NewEvent } from './record.sql.ts'

type CountedMessages = ReadonlyMap<MessageId, readonly Dimension[]>

/** Counts new events by version, domain, link and bounce reason. Returns the rows for `writeCounters`. */
export async function countByFlow(
  tx: Tx,
  { events, firsts, outcomes }: Counting,
  messages: CountedMessages,
): Promise<FlowCounterRow[]> {
  const changes = new FlowCounterChanges()
  const firstEvents = new Set(firsts.map(({ event }) => event))
  for (const event of events) {
    const machine = event.machine ? 1 : 0
    const uniques = event.eventName === 'emailSent' || firstEvents.has(event) ? 1 : 0
    changes.add(event, event.occurredAt, ofMessage(messages, event), { total: 1, uniques, machine })
    changes.add(event, event.occurredAt, ofEvent(event), { total: 1, machine })
  }
  // Infinity means that only machines clicked before: nothing was counted.
  for (const { event, previousAt } of firsts)
    if (previousAt instanceof Date) changes.add(event, previousAt, ofMessage(messages, event), { uniques: -1 })
  for (const outcome of outcomes)
    changes.add(outcome, outcome.at, ofMessage(messages, outcome), { total: outcome.by, uniques: outcome.by })
  return changes.isEmpty ? [] : changes.quarters(await countValues(tx, changes.values()))
}

const none: readonly Dimension[] = []

const linkDimension = (value: string): Dimension => ({ kind: 'link', value })

const ofMessage = (messages: CountedMessages, { messageId }: Pick<NewEvent, 'messageId'>): readonly Dimension[] =>
  (messageId && messages.get(messageId)) || none

/** Reasons are short codes of the classifier. Any other text is not counted by reason. */
const reasonPattern = /^[ -~]{1,100}$/

function ofEvent(event: NewEvent): readonly Dimension[] {
  const link = clickedLink(event)
  if (link !== null) return [linkDimension(link)]
  const reason = event.data.bounce?.reason
  return reason !== undefined && reasonPattern.test(reason) ? [{ kind: 'reason', value: reason }] : none
}

export type LabelledClicks = {
  organizationId: OrganizationId
  clicks: readonly {
    id: NewEvent['id']
    messageId: MessageId
    flowId: FlowId | null
    occurredAt: Date
    link: string | null
  }[]
  /** The messages whose first human click is another one now. */
  moved: readonly { messageId: MessageId; flowId: FlowId | null; occurredAt: Date; remainingAt: Date | null }[]
}

/** Like `countByFlow`, for clicks that had been counted as human and are labelled as made by a machine. */
export async function countLabelled(tx: Tx, labelled: readonly LabelledClicks[]): Promise<FlowCounterRow[]> {
  const changes = new FlowCounterChanges()
  const eventName: EventName = 'emailClick'
  for (const { organizationId, clicks, moved } of labelled) {
    const messages = await findCountedMessages(
      tx,
      clicks.map(({ messageId }) => ({ organizationId, messageId })),
    )
    for (const { link, occurredAt, ...click } of clicks) {
      const dimensions: Dimension[] = [...ofMessage(messages, click), ...(link === null ? [] : [linkDimension(link)])]
      changes.add({ ...click, organizationId, eventName }, occurredAt, dimensions, { machine: 1 })
    }
    for (const { occurredAt, remainingAt, ...message } of moved) {
      const click = { ...message, organizationId, eventName }
      changes.add(click, occurredAt, ofMessage(messages, message), { uniques: -1 })
      if (remainingAt) changes.add(click, remainingAt, ofMessage(messages, message), { uniques: 1 })
    }
  }
  return changes.isEmpty ? [] : changes.quarters(await findCountedValues(tx, changes.values()))
}
