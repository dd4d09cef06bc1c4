import type { NewEvent } from '../../src/events/record.ts'
import type { EventName } from '../../src/values/event-types.ts'
import type { FlowId } from '../../src/values/ids.ts'
import type { Counts } from './event-world.ts'

// Computes the expected counters from the events in the simplest way.

/** Returns each event once, and labelled as caused by a machine if it was part of a burst. */
export function settled(events: readonly NewEvent[]): NewEvent[] {
  const once = [...new Map(events.map((event) => [event.id, event])).values()]
  return once.map((event) => ({ ...event, machine: event.machine || isPartOfBurst(event, once) }))
}

/** Returns true if three seconds around this click contain human clicks on three links of its message. */
export function isPartOfBurst(event: NewEvent, events: readonly NewEvent[]): boolean {
  if (event.eventName !== 'emailClick' || event.machine) return false
  const clicks = events.filter(
    ({ eventName, messageId, machine }) => eventName === 'emailClick' && messageId === event.messageId && !machine,
  )
  return clicks.some(({ occurredAt: start }) => {
    const within = clicks.filter(({ occurredAt }) => +occurredAt >= +start && +occurredAt <= +start + 3_000)
    return within.includes(event) && new Set(within.map(({ data }) => data.url)).size >= 3
  })
}

/** Counts by local date in the time zone. */
export function recountDays(
  events: readonly NewEvent[],
  { eventName, zone, flowId }: { eventName: EventName; zone: string; flowId?: FlowId | undefined },
): Map<string, Counts> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const named = events.filter((event) => event.eventName === eventName)
  const firsts = new Map<string, NewEvent>()
  for (const event of named) {
    const subject = event.messageId ?? event.contactId
    const known = firsts.get(subject)
    if (!event.machine && (!known || event.occurredAt < known.occurredAt)) firsts.set(subject, event)
  }
  const first = new Set(firsts.values())
  const days = new Map<string, Counts>()
  for (const event of named) {
    if (flowId && event.flowId !== flowId) continue
    const date = format.format(event.occurredAt)
    const { total, unique, machine } = days.get(date) ?? { total: 0, unique: 0, machine: 0 }
    days.set(date, {
      total: total + 1,
      unique: unique + (first.has(event) ? 1 : 0),
      machine: machine + (event.machine ? 1 : 0),
    })
  }
  return days
}
