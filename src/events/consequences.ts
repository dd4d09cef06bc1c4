import type { Tx } from '../db/db.ts'
import type { EventName } from '../values/event-types.ts'
import { groupBy } from '../values/group-by.ts'
import type { ContactId, MessageId } from '../values/ids.ts'
import {
  findMessageAddresses,
  insertSuppressions,
  type MessageState,
  unsubscribeContacts,
  updateMessageStates,
} from './consequences.sql.ts'
import type { EventContact, NewEvent } from './record.sql.ts'

const namesOfSending: ReadonlySet<EventName> = new Set(['emailSent', 'emailSoftBounce', 'emailHardBounce'])

/** Updates the messages that were sent or bounced according to these events. */
export function changeMessages(tx: Tx, events: readonly NewEvent[]): void {
  const ofSending = events.filter(({ eventName, messageId }) => messageId !== null && namesOfSending.has(eventName))
  for (const [organizationId, own] of groupBy(ofSending, (event) => event.organizationId))
    updateMessageStates(
      tx,
      organizationId,
      groupBy(own, (event) => event.messageId!).map(([id, events]) => messageStateOf(id, events)),
    )
}

/** A hard bounce takes precedence over a soft one, and the earliest over later ones. */
function messageStateOf(id: MessageId, events: NewEvent[]): MessageState {
  const inOrder = events.toSorted((a, b) => +a.occurredAt - +b.occurredAt)
  const hard = inOrder.find(({ eventName }) => eventName === 'emailHardBounce')
  const bounce = hard ?? inOrder.find(({ eventName }) => eventName === 'emailSoftBounce')
  const sent = inOrder.find(({ eventName }) => eventName === 'emailSent')
  return {
    id,
    sentAt: sent?.occurredAt ?? null,
    bounce: hard ? 'hard' : bounce ? 'soft' : null,
    reason: bounce?.data.bounce?.reason ?? null,
  }
}

const suppressionReasons: Partial<Record<EventName, string>> = {
  emailHardBounce: 'hard_bounce',
  emailComplaint: 'complaint',
  contactUnsubscribe: 'unsubscribe',
}

/**
 * Suppresses the address that the message was sent to, which may no longer be the contact's address, and unsubscribes
 * contacts. Erased contacts have no address.
 */
export async function suppressAddresses(
  tx: Tx,
  events: readonly NewEvent[],
  contacts: ReadonlyMap<ContactId, EventContact>,
): Promise<void> {
  const suppressing = events.filter(
    ({ eventName, contactId }) => suppressionReasons[eventName] && contacts.has(contactId),
  )
  for (const [organizationId, own] of groupBy(suppressing, (event) => event.organizationId)) {
    const sentTo = await findMessageAddresses(
      tx,
      organizationId,
      own.flatMap(({ eventName, messageId }) => (eventName === 'contactUnsubscribe' ? [] : (messageId ?? []))),
    )
    const rows = own
      .toSorted((a, b) => +a.occurredAt - +b.occurredAt)
      .map(({ eventName, contactId, messageId, data }) => {
        const contact = contacts.get(contactId)!
        const address = (messageId !== null && sentTo.get(messageId)) || contact.email
        return {
          emailKey: address === contact.email ? contact.emailKey : address.toLowerCase(),
          reason: suppressionReasons[eventName]!,
          email: address,
          detail: data.bounce?.reason ?? data.feedback_type ?? data.method ?? null,
          messageId,
        }
      })
    insertSuppressions(tx, organizationId, rows)
    const unsubscribed = own.filter(({ eventName }) => eventName === 'contactUnsubscribe')
    if (unsubscribed.length > 0)
      unsubscribeContacts(
        tx,
        organizationId,
        unsubscribed.map(({ contactId }) => contactId),
      )
  }
}
