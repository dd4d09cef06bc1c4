import type { Tx } from '../../platform/db/db.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, MessageId } from '../../platform/values/ids.ts'
import {
  type BouncedRecipient,
  type BouncedRecipients,
  findMessageAddresses,
  insertSuppressions,
  type MessageState,
  unsubscribeContacts,
  updateBouncedRecipients,
  updateBounceReasons,
  updateMessageStates,
} from './consequences.sql.ts'
import type { EventContact, NewEvent } from './record.sql.ts'

const namesOfSending: ReadonlySet<EventName> = new Set(['emailSent', 'emailSoftBounce', 'emailHardBounce'])

/** Updates the messages that were sent or bounced according to these events. */
export function changeMessages(tx: Tx, events: readonly NewEvent[]): void {
  const ofSending = events.filter(({ eventName, messageId }) => messageId !== null && namesOfSending.has(eventName))
  for (const [organizationId, group] of groupBy(ofSending, (event) => event.organizationId))
    updateMessageStates(
      tx,
      organizationId,
      groupBy(group, (event) => event.messageId!).map(([id, events]) => messageStateOf(id, events)),
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

/**
 * Updates the recipients of broadcasts whose email bounced after it was sent, and returns their number by broadcast for
 * `writeCounters`. Bounces are rare, so nothing is read for other events.
 */
export async function changeRecipients(tx: Tx, events: readonly NewEvent[]): Promise<BouncedRecipients[]> {
  const bounces = events.filter(
    ({ eventName, messageId }) => messageId !== null && eventName !== 'emailSent' && namesOfSending.has(eventName),
  )
  const bounced: BouncedRecipient[] = []
  for (const [organizationId, group] of groupBy(bounces, (event) => event.organizationId)) {
    const states = groupBy(group, (event) => event.messageId!).map(([id, events]) => messageStateOf(id, events))
    updateBounceReasons(
      tx,
      organizationId,
      states.filter(({ bounce }) => bounce === 'hard'),
    )
    bounced.push(...(await updateBouncedRecipients(tx, organizationId, states)))
  }
  return groupBy(bounced, ({ broadcastId }) => broadcastId)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, rows]) => ({ ...rows[0]!, recipients: rows.length }))
}

const suppressionReasons: Partial<Record<EventName, string>> = {
  emailHardBounce: 'hard_bounce',
  emailComplaint: 'complaint',
  contactUnsubscribe: 'unsubscribe',
}

/** Reserved recipients can bounce and complain again and again. */
const isRepeatable = (eventName: EventName, data: NewEvent['data']) =>
  data.is_test === true && eventName !== 'contactUnsubscribe'

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
    ({ eventName, contactId, data }) =>
      suppressionReasons[eventName] && contacts.has(contactId) && !isRepeatable(eventName, data),
  )
  for (const [organizationId, group] of groupBy(suppressing, (event) => event.organizationId)) {
    const sentTo = await findMessageAddresses(
      tx,
      organizationId,
      group.flatMap(({ eventName, messageId }) => (eventName === 'contactUnsubscribe' ? [] : (messageId ?? []))),
    )
    const rows = group
      .toSorted((a, b) => +a.occurredAt - +b.occurredAt)
      .map(({ eventName, contactId, messageId, data }) => {
        const address = (messageId !== null && sentTo.get(messageId)) || contacts.get(contactId)!.email
        return {
          emailKey: address.toLowerCase(),
          reason: suppressionReasons[eventName]!,
          email: address,
          detail: data.bounce?.reason ?? data.feedback_type ?? data.method ?? null,
          messageId,
        }
      })
    insertSuppressions(tx, organizationId, rows)
    const unsubscribed = group.filter(({ eventName }) => eventName === 'contactUnsubscribe')
    if (unsubscribed.length > 0)
      unsubscribeContacts(
        tx,
        organizationId,
        unsubscribed.map(({ contactId }) => contactId),
      )
  }
}
