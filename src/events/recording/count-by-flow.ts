import type { Tx } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Counting } from './counters.ts'
import { type Dimension, type FlowCounterRow, findCountedMessages } from './flow-counters.sql.ts'
import { countValues, FlowCounterChanges, findCountedValues } from './flow-counters.ts'
import { type FirstOnLink, findFirstLinks, findFirstsAfterClicks, findFirstsAfterLabels } from './link-clicks.sql.ts'
import { clickedLink, type First, type NewEvent } from './record.sql.ts'

type CountedMessages = ReadonlyMap<MessageId, readonly Dimension[]>

/** Counts new events by version, domain, link and bounce reason. Returns the rows for `writeCounters`. */
export async function countByFlow(
  tx: Tx,
  { events, firsts, outcomes }: Counting,
  messages: CountedMessages,
): Promise<FlowCounterRow[]> {
  const changes = new FlowCounterChanges()
  const { firstOnLink, laterClicks, moved } = sortClicks(events, firsts)
  const firstEvents = new Set(firsts.map(({ event }) => event))
  for (const event of events) {
    const machine = event.machine ? 1 : 0
    const uniques = event.eventName === 'emailSent' || firstEvents.has(event) ? 1 : 0
    changes.add(event, event.occurredAt, ofMessage(messages, event), { total: 1, uniques, machine })
    const uniquesOfLink = firstOnLink.has(event) ? 1 : 0
    changes.add(event, event.occurredAt, ofEvent(event), { total: 1, uniques: uniquesOfLink, machine })
  }
  // Infinity means that only machines clicked before: nothing was counted.
  for (const { event, previousAt } of firsts)
    if (previousAt instanceof Date) changes.add(event, previousAt, ofMessage(messages, event), { uniques: -1 })
  for (const outcome of outcomes)
    changes.add(outcome, outcome.at, ofMessage(messages, outcome), { total: outcome.by, uniques: outcome.by })
  await countLaterClicks(tx, changes, laterClicks, moved)
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
  if (link !== null) return [linkDimension(link.text)]
  const reason = event.data.bounce?.reason
  return reason !== undefined && reasonPattern.test(reason) ? [{ kind: 'reason', value: reason }] : none
}

type SortedClicks = {
  /** Clicks that are known to be the first on their link: the message had none before, and has clicks on one link now. */
  firstOnLink: Set<NewEvent>
  /** The human clicks of all other messages, by message. */
  laterClicks: NewEvent[][]
  /** Of these, the messages whose first click is another one now. */
  moved: Set<MessageId>
}

function sortClicks(events: readonly NewEvent[], firsts: readonly First[]): SortedClicks {
  const clicksOn = new Map<MessageId, NewEvent[]>()
  for (const event of events) {
    if (event.eventName !== 'emailClick' || event.machine || event.messageId === null) continue
    const known = clicksOn.get(event.messageId)
    if (known) known.push(event)
    else clicksOn.set(event.messageId, [event])
  }
  const firstOnLink = new Set<NewEvent>()
  const moved = new Set<MessageId>()
  for (const { event, previousAt } of firsts) {
    const clicks = event.eventName === 'emailClick' && event.messageId && clicksOn.get(event.messageId)
    if (!clicks) continue
    if (previousAt instanceof Date || !areOnOneLink(clicks)) moved.add(event.messageId!)
    else {
      firstOnLink.add(event)
      clicksOn.delete(event.messageId!)
    }
  }
  return { firstOnLink, laterClicks: [...clicksOn.values()], moved }
}

const areOnOneLink = ([first, ...rest]: readonly NewEvent[]) =>
  rest.every((click) => clickedLink(click)?.id === clickedLink(first!)?.id)

/** Clicks on the link that was clicked first change nothing. Any other needs a look at the clicks before it. */
async function countLaterClicks(
  tx: Tx,
  changes: FlowCounterChanges,
  clicksOn: readonly NewEvent[][],
  moved: ReadonlySet<MessageId>,
): Promise<void> {
  const asked = clicksOn.map(([click]) => ofClick(click!)).filter(({ messageId }) => !moved.has(messageId))
  const firsts = asked.length === 0 ? [] : await findFirstLinks(tx, asked)
  const firstOn = new Map(firsts.map((first) => [first.messageId, first]))
  const open = clicksOn.filter((clicks) => {
    const first = firstOn.get(clicks[0]!.messageId!)
    return (
      !first || clicks.some((click) => clickedLink(click)?.id !== first.linkId || click.occurredAt < first.occurredAt)
    )
  })
  for (const [organizationId, groups] of groupBy(open, ([click]) => click!.organizationId)) {
    const messages = groups.map(([click]) => ofClick(click!))
    const ids = groups.flatMap((clicks) => clicks.map(({ id }) => id))
    const moves = await findFirstsAfterClicks(tx, { organizationId, messages, ids })
    moveFirstsOnLinks(changes, organizationId, messages, moves)
  }
}

const ofClick = ({ organizationId, messageId, contactId, flowId }: NewEvent) => ({
  organizationId,
  messageId: messageId!,
  contactId,
  flowId,
})

function moveFirstsOnLinks(
  changes: FlowCounterChanges,
  organizationId: OrganizationId,
  messages: readonly { messageId: MessageId; flowId: FlowId | null }[],
  moves: readonly FirstOnLink[],
): void {
  const flowOf = new Map(messages.map(({ messageId, flowId }) => [messageId, flowId]))
  for (const { messageId, link, beforeAt, afterAt } of moves) {
    const click = { organizationId, flowId: flowOf.get(messageId)!, eventName: 'emailClick' as const }
    const dimensions = [linkDimension(link)]
    if (afterAt) changes.add(click, afterAt, dimensions, { uniques: 1 })
    if (beforeAt) changes.add(click, beforeAt, dimensions, { uniques: -1 })
  }
}

export type LabelledClicks = {
  organizationId: OrganizationId
  clicks: readonly {
    id: NewEvent['id']
    messageId: MessageId
    contactId: ContactId
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
    const found = await findFirstsAfterLabels(tx, {
      ...{ organizationId, ids: clicks.map(({ id }) => id) },
      messages: [...new Map(clicks.map((click) => [click.messageId, click])).values()],
    })
    moveFirstsOnLinks(changes, organizationId, clicks, found)
  }
  return changes.isEmpty ? [] : changes.quarters(await findCountedValues(tx, changes.values()))
}
