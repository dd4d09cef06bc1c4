import { type ContactId, derivedId } from '../../platform/values/ids.ts'
import {
  type SimulatedBehaviour,
  simulatedBehaviour,
  simulatorDomain,
} from '../../platform/values/simulated-recipients.ts'
import type { EventContact, NewEvent } from './record.sql.ts'

type Reaction = Pick<NewEvent, 'eventName' | 'data'>

const open: Reaction = { eventName: 'emailOpen', data: { user_agent: 'Waxwing simulator' } }
const url = `https://${simulatorDomain}/`

/** What reserved recipients do when an email was sent to them. */
const reactions: Partial<Record<SimulatedBehaviour, readonly Reaction[]>> = {
  open: [open],
  click: [open, { eventName: 'emailClick', data: { ...open.data, url } }],
  complaint: [{ eventName: 'emailComplaint', data: { feedback_type: 'abuse' } }],
  unsubscribe: [{ eventName: 'contactUnsubscribe', data: { method: 'one_click' } }],
}

/** Returns the reactions of reserved recipients to the emails that were sent to them according to these events. */
export const reactionsTo = (events: readonly NewEvent[], contacts: ReadonlyMap<ContactId, EventContact>): NewEvent[] =>
  events.flatMap((sent) => {
    if (!sent.data.is_test || sent.eventName !== 'emailSent') return []
    const behaviour = simulatedBehaviour(contacts.get(sent.contactId)?.email ?? '')
    const outcomes = (behaviour && behaviour !== 'unknown' && reactions[behaviour]) || []
    return outcomes.map(({ eventName, data }, index) => ({
      ...sent,
      id: derivedId('evt', sent.messageId!, sent.messageId!, `simulated ${eventName}`),
      eventName,
      // In this order in lists.
      occurredAt: new Date(sent.occurredAt.getTime() + index + 1),
      data: { ...data, is_test: true },
    }))
  })
