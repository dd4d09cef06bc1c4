import type { NewEvent } from '../../events/events.ts'
import { hourMs, minuteMs } from '../../platform/values/durations.ts'
import { derivedId, type OrganizationId } from '../../platform/values/ids.ts'
import { chanceOf } from './chance.ts'
import type { PlannedMessage } from './planned-message.ts'

const bounceAfterMs = 60_000
const automatedOpenAfterMs = 2_000
const clicksPerOpen = 0.36
const agent = { user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' }
export const bounces = {
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

type Read = Pick<PlannedMessage, 'id' | 'bounce' | 'openRate'>

const readerChance = ({ id }: Read) => chanceOf(id, 'reader')

/** Whether a person opens the email. */
export const opensOf = (message: Read): boolean =>
  message.bounce === null && readerChance(message) > 1 - message.openRate

const clicksOf = (message: Read): boolean => readerChance(message) > 1 - clicksPerOpen * message.openRate

/** From two minutes to 40 hours after the email: half of them within 40 minutes. */
const openAfterMs = ({ id }: Read) => Math.floor(2 * minuteMs + 40 * hourMs * chanceOf(id, 'delay') ** 6)

/** What an email leads to besides opens and clicks. Only marketing emails have an unsubscribe link. */
export function reactionTo(message: PlannedMessage): { suppressedMs?: number; unsubscribedMs?: number } {
  const { atMs, bounce, flow } = message
  if (bounce === 'hard') return { suppressedMs: atMs + bounceAfterMs }
  if (bounce) return {}
  const chance = readerChance(message)
  const readMs = atMs + openAfterMs(message)
  if (chance > 0.9995) return { suppressedMs: readMs + 80_000 }
  return chance > 0.98 && flow.kind === 'marketing' ? { unsubscribedMs: readMs + 100_000 } : {}
}

/** The events of an email until `endMs`. */
export function eventsOf(organizationId: OrganizationId, message: PlannedMessage, endMs: number): NewEvent[] {
  const { id, flow, contact, atMs, bounce, url } = message
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
  const events = [make('emailSent', atMs)]
  if (bounce) {
    const eventName = bounce === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
    events.push(make(eventName, atMs + bounceAfterMs, { data: { bounce: bounces[bounce] } }))
    return events
  }
  const chance = readerChance(message)
  const openedMs = atMs + openAfterMs(message)
  const { suppressedMs, unsubscribedMs } = reactionTo(message)
  if (chance < 0.9)
    events.push(
      make('emailOpen', atMs + automatedOpenAfterMs, { machine: true, machineReason: 'apple_privacy', data: agent }),
    )
  if (opensOf(message)) events.push(make('emailOpen', openedMs, { data: agent }))
  if (clicksOf(message)) events.push(make('emailClick', openedMs + 60_000, { data: { ...agent, url } }))
  if (suppressedMs !== undefined)
    events.push(make('emailComplaint', suppressedMs, { data: { feedback_type: 'abuse' } }))
  if (unsubscribedMs !== undefined)
    events.push(make('contactUnsubscribe', unsubscribedMs, { data: { method: 'page' } }))
  return events.filter(({ occurredAt }) => occurredAt.getTime() <= endMs)
}
