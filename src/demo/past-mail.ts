import { createHash } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { derivedEventId, type NewEvent, recordEvents } from '../events/record.ts'
import { insertPastMessages } from '../messages/past-messages.ts'
import type { ContactId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../values/ids.ts'

// Emails of the past and what happened to them, for sample data. All choices follow from a hash, so that two runs on the
// same day yield the same figures.

const dayMs = 24 * 3_600_000
const messagesPerBatch = 2_000

export type PastFlow = {
  id: FlowId
  versionId: FlowVersionId
  /** Returns the subject and the context of the nth message. */
  messageOf: (n: number) => { subject: string; context: object }
  /** The URL that readers click on. */
  url: string
}
export type PastContact = { id: ContactId; email: string }

type Rates = { softBounces: number; hardBounces: number }
type Message = {
  id: MessageId
  n: number
  flow: PastFlow
  contact: PastContact
  atMs: number
  bounce: 'soft' | 'hard' | null
}

export type PastMailOptions = {
  organizationId: OrganizationId
  contacts: readonly PastContact[]
  flows: readonly PastFlow[]
  days: number
  messages: number
  rates: Rates
  eventsMax?: number
  endMs?: number
  onProgress?: (events: number) => void
}

/** Generates messages with their events, newest first, and returns the number of events. */
export async function addPastMail(db: Db, options: PastMailOptions): Promise<number> {
  const { organizationId, contacts, flows, rates, endMs = Date.now(), eventsMax = Number.POSITIVE_INFINITY } = options
  const moments = momentsUntil(endMs, options.messages, options.days)
  let events = 0
  for (let start = 0; start < moments.length && events < eventsMax; start += messagesPerBatch) {
    const batch = moments.slice(start, start + messagesPerBatch).map((atMs, index): Message => {
      const id = idAt(atMs, `message ${start + index}`) as MessageId
      // A few flows send most of the emails, as in practice.
      const flow = flows[Math.floor(flows.length * chanceOf(id, 'flow') ** 3)]!
      const contact = contacts[Math.floor(contacts.length * chanceOf(id, 'contact'))]!
      return { id, n: start + index, flow, contact, atMs, bounce: bounceOf(chanceOf(id, 'bounce'), rates) }
    })
    const happened = batch.flatMap((message) => eventsOf(organizationId, message, endMs)).slice(0, eventsMax - events)
    await db.begin(async (tx) => {
      const past = batch.map(({ id, n, flow, contact, atMs, bounce }) => ({
        id,
        flowId: flow.id,
        flowVersionId: flow.versionId,
        contactId: contact.id,
        email: contact.email,
        ...flow.messageOf(n),
        status: bounce ? ('bounced' as const) : ('sent' as const),
        sentAt: new Date(atMs),
      }))
      await insertPastMessages(tx, organizationId, past)
      await recordEvents(tx, happened)
    })
    events += happened.length
    options.onProgress?.(events)
  }
  return events
}

const bounceOf = (chance: number, { softBounces, hardBounces }: Rates) =>
  chance < hardBounces ? 'hard' : chance < hardBounces + softBounces ? 'soft' : null

/** Sending times over the last days: more by day than by night, fewer at weekends, and growing. */
function momentsUntil(endMs: number, count: number, days: number): number[] {
  const weights = Array.from({ length: days }, (_, day) => {
    const weekday = new Date(endMs - (days - 1 - day) * dayMs).getUTCDay()
    const weekend = weekday === 0 || weekday === 6
    return (weekend ? 0.45 : 1) * (0.7 + (0.6 * day) / days) * (1 + 0.25 * Math.sin(day / 8))
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const moments = weights.flatMap((weight, day) => {
    const ofDay = Math.round((count * weight) / sum)
    const dayEndMs = endMs - (days - 1 - day) * dayMs
    return Array.from({ length: ofDay }, (_, i) => Math.floor(dayEndMs - dayMs * (1 - (i + 1) / ofDay) ** 1.3))
  })
  return moments.sort((a, b) => b - a)
}

const bounces = {
  soft: {
    type: 'soft',
    status: '4.2.2',
    reply_code: 452,
    reason: 'mailbox_full',
    diagnostic: '452 4.2.2 Mailbox full',
  },
  hard: {
    type: 'hard',
    status: '5.1.1',
    reply_code: 550,
    reason: 'user_unknown',
    diagnostic: '550 5.1.1 User unknown',
  },
} as const

/** The events of an email until `endMs`. */
function eventsOf(
  organizationId: OrganizationId,
  { id, flow, contact, atMs, bounce }: Message,
  endMs: number,
): NewEvent[] {
  const chance = chanceOf(id, 'reader')
  const make = (eventName: NewEvent['eventName'], afterMs: number, more: Partial<NewEvent> = {}): NewEvent => ({
    id: derivedEventId(id, `${eventName} ${afterMs}`),
    organizationId,
    eventName,
    occurredAt: new Date(atMs + afterMs),
    messageId: id,
    flowId: flow.id,
    contactId: contact.id,
    machine: false,
    machineReason: null,
    data: {},
    ...more,
  })
  const isPast = ({ occurredAt }: NewEvent) => occurredAt.getTime() <= endMs
  const agent = { user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' }
  const events = [make('emailSent', 500)]
  if (bounce) {
    const eventName = bounce === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
    events.push(make(eventName, 60_000, { data: { bounce: bounces[bounce] } }))
    return events.filter(isPast)
  }
  if (chance < 0.9)
    events.push(make('emailOpen', 2_000, { machine: true, machineReason: 'apple_privacy', data: agent }))
  if (chance > 0.45) events.push(make('emailOpen', 3_600_000, { data: agent }))
  if (chance > 0.8) events.push(make('emailClick', 3_660_000, { data: { ...agent, url: flow.url } }))
  if (chance > 0.9995) events.push(make('emailComplaint', 3_680_000, { data: { feedback_type: 'abuse' } }))
  else if (chance > 0.995) events.push(make('contactUnsubscribe', 3_700_000, { data: { method: 'page' } }))
  return events.filter(isPast)
}

/** Returns a number from 0 to 1 that is always the same for the same id and purpose. */
export function chanceOf(id: string, what: string): number {
  return Number.parseInt(createHash('sha256').update(`${id} ${what}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000
}

function idAt(ms: number, what: string): string {
  const time = ms.toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(what).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
