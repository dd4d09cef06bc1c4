import type { CounterName } from '../../src/events/recording/counters.ts'
import type { NewEvent } from '../../src/events/recording/record.ts'
import type { FlowId } from '../../src/platform/values/ids.ts'
import type { Counts, World } from './event-world.ts'

// Computes the expected counters from the events in the simplest way.

/** Returns each event once, as it was first recorded, and labelled as caused by a machine if it was part of a burst. */
export function settled(events: readonly NewEvent[]): NewEvent[] {
  const ids = new Set<string>()
  const once = events.filter(({ id }) => !ids.has(id) && ids.add(id))
  return once.map((event) => ({ ...event, machine: event.machine || isPartOfBurst(event, once) }))
}

/** An event, or an email that was returned or rejected, at the time at which it is counted. */
type Counted = Omit<NewEvent, 'eventName'> & { eventName: CounterName }

/** Adds the emails that bounced, each once: when it was sent, or when it was rejected. */
export function withOutcomes(events: readonly NewEvent[]): Counted[] {
  const isBounce = ({ eventName }: NewEvent) => eventName.endsWith('Bounce')
  const inOrder = events.toSorted((a, b) => +a.occurredAt - +b.occurredAt)
  const outcomes = [...new Set(events.flatMap(({ messageId }) => messageId ?? []))].flatMap((id): Counted[] => {
    const own = inOrder.filter(({ messageId }) => messageId === id)
    const bounce = own.find(isBounce)
    const sent = own.find(({ eventName }) => eventName === 'emailSent')
    const machine = false
    if (!bounce) return []
    return [{ ...(sent ?? bounce), machine, data: {}, eventName: sent ? 'emailReturned' : 'emailRejected' }]
  })
  return [...events, ...outcomes]
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
  events: readonly Counted[],
  { eventName, zone, flowId }: { eventName: CounterName; zone: string; flowId?: FlowId | undefined },
): Map<string, Counts> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const named = events.filter((event) => event.eventName === eventName)
  const firsts = new Map<string, Counted>()
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

type FlowCount = Counts & {
  flowId: FlowId
  grain: 'day' | 'quarter'
  kind: string
  startsAt: Date
  value: string
  eventName: CounterName
}

/**
 * Counts by version, domain, link and bounce reason. In these worlds the id of a version is that of its flow, and no
 * link needs to be shortened.
 */
export function recountFlow(events: readonly Counted[], world: World): FlowCount[] {
  const rows = new Map<string, FlowCount>()
  const emailOf = new Map(world.messages.map(({ id, email }) => [id, email]))
  const seen = new Set<string>()
  for (const event of events.toSorted((a, b) => +a.occurredAt - +b.occurredAt)) {
    const { eventName, flowId, messageId, machine, data, occurredAt } = event
    if (!flowId || !messageId) continue
    const key = `${messageId} ${eventName}`
    const ofMessage = !machine && !seen.has(key)
    if (ofMessage) seen.add(key)
    const values: [kind: string, value: string | undefined, isFirst: boolean][] = [
      ['version', flowId, ofMessage],
      ['domain', emailOf.get(messageId)!.split('@')[1], ofMessage],
      ['link', data.url, false],
      ['reason', data.bounce?.reason, false],
    ]
    for (const [kind, value, first] of values)
      for (const [grain, ms] of [['day', 86_400_000] as const, ['quarter', 900_000] as const]) {
        if (value === undefined) continue
        const startsAt = new Date(Math.floor(+occurredAt / ms) * ms)
        const key = `${flowId} ${grain} ${kind} ${+startsAt} ${eventName} ${value}`
        const row = rows.get(key) ?? {
          flowId,
          grain,
          kind,
          startsAt,
          value,
          eventName,
          total: 0,
          unique: 0,
          machine: 0,
        }
        row.total += 1
        row.unique += first ? 1 : 0
        row.machine += machine ? 1 : 0
        rows.set(key, row)
      }
  }
  return [...rows.values()]
}

/** Counts the messages in which people clicked each link of a flow. */
export function recountLinks(events: readonly Counted[], flowId: FlowId): Map<string, number> {
  const links = new Map<string, Set<string>>()
  for (const { eventName, messageId, machine, data, flowId: of } of events)
    if (eventName === 'emailClick' && of === flowId && messageId && data.url) {
      const messages = links.get(data.url) ?? new Set()
      links.set(data.url, machine ? messages : messages.add(messageId))
    }
  return new Map([...links].map(([link, messages]) => [link, messages.size]))
}
