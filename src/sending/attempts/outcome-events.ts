import { derivedEventId, type NewEvent } from '../../events/events.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { simulatedBehaviour } from '../../platform/values/simulated-recipients.ts'
import type { SendRow } from './send.sql.ts'

function eventOf(row: SendRow, key: string, eventName: NewEvent['eventName'], data: NewEvent['data']): NewEvent {
  return {
    id: derivedEventId(row.id, key),
    organizationId: row.organizationId,
    eventName,
    occurredAt: new Date(),
    messageId: row.id,
    flowId: row.flowId,
    contactId: row.contactId,
    machine: false,
    machineReason: null,
    data: simulatedBehaviour(row.email) ? { ...data, is_test: true } : data,
  }
}
// A test email has no events: it does not count, and webhooks are not called.
export const sentEvent = (row: SendRow) => (row.isTest ? null : eventOf(row, 'sent', 'emailSent', {}))
/** The same event that a bounce email or a provider webhook would record. */
export function bounceEvent(row: SendRow, bounce: BounceDetail): NewEvent | null {
  if (row.isTest) return null
  const eventName = bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
  return eventOf(row, eventName, eventName, { bounce })
}
