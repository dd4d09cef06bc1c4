import { createHash } from 'node:crypto'
import { type NewEvent, recordEvents } from '../../src/events/recording/record.ts'
import type { Db } from '../../src/platform/db/db.ts'
import {
  type BroadcastId,
  type ContactId,
  derivedId,
  type FlowId,
  type FlowVersionId,
  type MessageId,
  type OrganizationId,
} from '../../src/platform/values/ids.ts'
import { insertPastMessages } from './past-messages.ts'

const messagesPerBatch = 2_000
const bounceAfterMs = 60_000
const automatedOpenAfterMs = 2_000
const clicksPerOpen = 0.36
const complaintShare = 0.0005
const unsubscribeShare = 0.02
const agent = { user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' }
const bounce = {
  type: 'soft',
  status: '4.2.2',
  reply_code: 452,
  reason: 'mailbox_full',
  diagnostic: '452 4.2.2 Mailbox full',
} as const

/** An email that was sent, and how likely a person opens it. */
export type PastEmail = {
  id: MessageId
  flow: { id: FlowId; versionId: FlowVersionId; kind: 'transactional' | 'marketing' }
  contact: { id: ContactId; email: string }
  atMs: number
  isBounced: boolean
  subject: string
  context: object
  /** The clicked link. */
  url: string
  openRate: number
  broadcastId: BroadcastId | null
}

export type PastEmailOptions = {
  organizationId: OrganizationId
  endMs: number
  eventsMax?: number
  onProgress?: (events: number) => void
}

/** Returns a number from 0 to 1 that is always the same for the same id and purpose. */
export function chanceOf(id: string, purpose: string): number {
  return Number.parseInt(createHash('sha256').update(`${id} ${purpose}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000
}

/** Stores emails of the past with their events, the last ones first, and returns the number of events. */
export async function addPastEmails(
  db: Db,
  emails: readonly PastEmail[],
  { organizationId, endMs, eventsMax = Number.POSITIVE_INFINITY, onProgress }: PastEmailOptions,
): Promise<number> {
  let events = 0
  for (let end = emails.length; end > 0 && events < eventsMax; end -= messagesPerBatch) {
    const batch = emails.slice(Math.max(0, end - messagesPerBatch), end)
    const happened = batch.flatMap((email) => eventsOf(organizationId, email, endMs)).slice(0, eventsMax - events)
    await db.begin(async (tx) => {
      const messages = batch.map(({ flow, contact, atMs, isBounced, ...email }) => ({
        ...email,
        flowId: flow.id,
        flowVersionId: flow.versionId,
        contactId: contact.id,
        email: contact.email,
        status: isBounced ? ('bounced' as const) : ('sent' as const),
        sentAt: new Date(atMs),
      }))
      await insertPastMessages(tx, organizationId, messages)
      await recordEvents(tx, happened)
    })
    events += happened.length
    onProgress?.(events)
  }
  return events
}

/** From two minutes to 40 hours after the email: half of them within 40 minutes. */
const openAfterMs = (id: MessageId) => Math.floor(120_000 + 144_000_000 * chanceOf(id, 'delay') ** 6)

/** The events of an email until `endMs`. */
function eventsOf(organizationId: OrganizationId, email: PastEmail, endMs: number): NewEvent[] {
  const { id, flow, contact, atMs, url, openRate } = email
  const make = (eventName: NewEvent['eventName'], whenMs: number, more: Partial<NewEvent> = {}): NewEvent => ({
    id: derivedId('evt', whenMs, id, eventName, String(more.machine ?? false)),
    organizationId,
    eventName,
    occurredAt: new Date(whenMs),
    messageId: id,
    flowId: flow.id,
    contactId: contact.id,
    machine: false,
    machineReason: null,
    data: {},
    ...more,
  })
  const sent = make('emailSent', atMs)
  if (email.isBounced) return [sent, make('emailSoftBounce', atMs + bounceAfterMs, { data: { bounce } })]
  const events = [sent]
  const chance = chanceOf(id, 'reader')
  const openedMs = atMs + openAfterMs(id)
  if (chance < 0.9)
    events.push(
      make('emailOpen', atMs + automatedOpenAfterMs, { machine: true, machineReason: 'apple_privacy', data: agent }),
    )
  if (chance > 1 - openRate) events.push(make('emailOpen', openedMs, { data: agent }))
  if (chance > 1 - clicksPerOpen * openRate)
    events.push(make('emailClick', openedMs + 60_000, { data: { ...agent, url } }))
  if (chance > 1 - complaintShare)
    events.push(make('emailComplaint', openedMs + 80_000, { data: { feedback_type: 'abuse' } }))
  else if (chance > 1 - unsubscribeShare && flow.kind === 'marketing')
    events.push(make('contactUnsubscribe', openedMs + 100_000, { data: { method: 'page' } }))
  return events.filter(({ occurredAt }) => occurredAt.getTime() <= endMs)
}
