import { inTurn } from '../../platform/db/cluster/batches.ts'
import type { Tx } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { EventId } from '../../platform/values/ids.ts'
import {
  type Click,
  type ClickWindow,
  clickWindows,
  filterByLinks,
  findClicks,
  findFirstClicks,
  labelAsMachine,
  lockFirstClicks,
  moveFirstClicks,
} from './bursts.sql.ts'
import { AllChanges, linkDimension } from './count-events.ts'
import { writeCounters } from './counters.ts'
import { findCountedMessages } from './flow-counters.sql.ts'
import { findCountedValues } from './flow-counters.ts'
import type { NewEvent } from './record.sql.ts'

/** People do not follow three different links of one email within three seconds; scanners follow them all. */
const linksMin = 3
const withinMs = 3_000

/** Clicks of known scanners do not count: they are no sign that a person at the same time is a machine. */
const mayBeBurst = ({ eventName, machine }: NewEvent): boolean => eventName === 'emailClick' && !machine

/** Returns whether these events alone contain enough clicks on one message to form a burst. */
export function mayHoldBurst(events: readonly NewEvent[]): boolean {
  const clicksOn = new Map<string | null, number>()
  return events.filter(mayBeBurst).some(({ messageId }) => {
    const clicks = (clicksOn.get(messageId) ?? 0) + 1
    clicksOn.set(messageId, clicks)
    return clicks >= linksMin
  })
}

type RecordedClicks = { fresh: readonly NewEvent[]; laterClickIds: ReadonlySet<EventId> }

/** Returns the clicks that are not the only one on their message. Most clicks are the only one and need no check. */
export function burstCandidates({ fresh, laterClickIds }: RecordedClicks): NewEvent[] {
  const clicks = fresh.filter(mayBeBurst)
  const clicksOn = new Map<string | null, number>()
  for (const { messageId } of clicks) clicksOn.set(messageId, (clicksOn.get(messageId) ?? 0) + 1)
  return clicks.filter(({ id, messageId }) => laterClickIds.has(id) || clicksOn.get(messageId)! > 1)
}

/** Returns the clicks on one message that lie within three seconds of clicks on at least three different links. */
export function burstsOf(clicks: readonly Pick<Click, 'id' | 'occurredAt' | 'url'>[]): EventId[] {
  const sorted = clicks.toSorted((a, b) => +a.occurredAt - +b.occurredAt)
  const bursts: EventId[] = []
  const linksInWindow = new Map<string | null, number>()
  let start = 0
  let marked = 0
  sorted.forEach((click, end) => {
    linksInWindow.set(click.url, (linksInWindow.get(click.url) ?? 0) + 1)
    for (; +click.occurredAt - +sorted[start]!.occurredAt > withinMs; start++) {
      const { url } = sorted[start]!
      const left = linksInWindow.get(url)! - 1
      if (left > 0) linksInWindow.set(url, left)
      else linksInWindow.delete(url)
    }
    if (linksInWindow.size < linksMin) return
    for (marked = Math.max(marked, start); marked <= end; marked++) bursts.push(sorted[marked]!.id)
  })
  return bursts
}

/**
 * Returns the messages of these recorded clicks that may have a burst; usually none. Transactions that write clicks on
 * the same message wait for each other on its row in first_occurrences, so the later one sees the clicks of both.
 */
export async function findSuspects(tx: Tx, clicks: readonly NewEvent[]): Promise<ClickWindow[]> {
  const windows = clickWindows(clicks, withinMs)
  const suspects: ClickWindow[] = []
  // The newest clicks on each message can be read only from one node at a time.
  await inTurn(tx, windows, async (some) => {
    if (some.length > 0) suspects.push(...(await filterByLinks(tx, some, linksMin)))
  })
  return suspects
}

/** Labels all clicks of the bursts on these messages, including clicks that were counted as human. */
export async function labelBursts(tx: Tx, suspects: readonly ClickWindow[]): Promise<void> {
  return inTurn(tx, suspects, (some) => labelBurstsIn(tx, some))
}

async function labelBurstsIn(tx: Tx, suspects: readonly ClickWindow[]): Promise<void> {
  if (suspects.length === 0) return
  await lockFirstClicks(tx, suspects)
  const byMessage = new Map<string, Click[]>(suspects.map(({ messageId }) => [messageId, []]))
  for (const click of await findClicks(tx, suspects)) byMessage.get(click.messageId)!.push(click)
  const human = [...byMessage.values()].flatMap((all) => {
    const bursts = new Set(burstsOf(all))
    return all.filter(({ id, machine }) => !machine && bursts.has(id))
  })
  if (human.length > 0) await relabelAsMachine(tx, human)
}

/** Labels clicks as made by a machine, and corrects the first click of their messages and the counters. */
async function relabelAsMachine(tx: Tx, clicks: readonly Click[]): Promise<void> {
  const changes = new AllChanges(await findCountedMessages(tx, clicks))
  for (const [organizationId, group] of groupBy(clicks, (click) => click.organizationId)) {
    const counted = { organizationId, eventName: 'emailClick' as const }
    const relabelled = await labelAsMachine(
      tx,
      organizationId,
      group.map(({ id }) => id),
    )
    for (const { link, occurredAt, ...click } of relabelled)
      changes.add({ ...counted, ...click }, occurredAt, { machine: 1 }, link === null ? undefined : linkDimension(link))
    const messages = groupBy(relabelled, ({ messageId }) => messageId).map(([, [first]]) => first!)
    const moved = (await findFirstClicks(tx, organizationId, messages)).filter(
      ({ occurredAt, remainingAt }) => remainingAt === null || occurredAt < remainingAt,
    )
    if (moved.length === 0) continue
    moveFirstClicks(tx, organizationId, moved)
    for (const { occurredAt, remainingAt, ...message } of moved) {
      changes.add({ ...counted, ...message }, occurredAt, { uniques: -1 })
      if (remainingAt) changes.add({ ...counted, ...message }, remainingAt, { uniques: 1 })
    }
  }
  writeCounters(tx, await changes.rows(tx, findCountedValues))
}
