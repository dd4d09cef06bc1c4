import { recordApiUnsubscriptions, recordContactChanges } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { systemActor } from '../../platform/values/actor.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import { type ContactId, type EventId, type MessageId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { Subscription } from './eligibility.ts'
import { insertHistory, recordChange, sourceOf } from './history.ts'
import { lockAddresses } from './locks.ts'
import {
  confirmUnsubscription,
  deleteUnsubscription,
  hasUnsubscribed,
  insertUnsubscriptions,
  lockSubscribed,
  subscribeByEmail,
  unsubscribeMany,
  updateSubscription,
} from './subscriptions.sql.ts'

/**
 * Keeps an unsubscribed contact unsubscribed under its new address, and unsubscribes a contact whose new address had
 * unsubscribed.
 */
export async function carryUnsubscription(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
  subscription: Subscription,
  address: EmailAddress,
): Promise<void> {
  if (subscription === 'unsubscribed') await insertUnsubscriptions(tx, organizationId, [address])
  else if (
    (await hasUnsubscribed(tx, organizationId, address.emailKey)) &&
    (await updateSubscription(tx, organizationId, id, 'unsubscribed'))
  )
    insertHistory(tx, organizationId, [{ contactId: id, type: 'unsubscribed', actor: systemActor }])
}

/** Stops marketing email to the contact. Returns false if it does not exist or had unsubscribed before. */
export async function unsubscribe(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
  messageId: MessageId | null = null,
): Promise<boolean> {
  const contact = await updateSubscription(tx, organizationId, id, 'unsubscribed')
  if (!contact) return false
  await insertUnsubscriptions(tx, organizationId, [contact], messageId)
  return true
}

export type RecipientUnsubscription = {
  /** Of the event that records it. */
  id: EventId
  organizationId: OrganizationId
  contactId: ContactId
  messageId: MessageId
  occurredAt: Date
}

/**
 * Unsubscribes a contact through the link of an email, and keeps this in its history. Returns false if it does not exist
 * or had unsubscribed before.
 */
export async function unsubscribeByRecipient(
  tx: Tx,
  { id: eventId, organizationId, contactId, messageId, occurredAt: at }: RecipientUnsubscription,
  ip: string | undefined,
): Promise<boolean> {
  if (!(await unsubscribe(tx, organizationId, contactId, messageId))) {
    await confirmUnsubscription(tx, organizationId, contactId, messageId)
    return false
  }
  const actor = { type: 'recipient', id: null, ...(ip !== undefined && { ip }) } as const
  insertHistory(tx, organizationId, [{ contactId, type: 'unsubscribed', actor, eventId, at }])
  return true
}

/**
 * Returns false if the contact does not exist or is already subscribed. Hard bounces, complaints and manual
 * suppressions stay.
 */
export async function resubscribe(tx: Tx, organizationId: OrganizationId, id: ContactId) {
  const contact = await updateSubscription(tx, organizationId, id, 'subscribed')
  if (!contact) return false
  await deleteUnsubscription(tx, organizationId, contact.emailKey)
  await recordSubscribed(tx, organizationId, id)
  return true
}

/** Subscribes the contact with this address, if it had unsubscribed. The suppression must be deleted. */
export async function resubscribeByEmail(tx: Tx, organizationId: OrganizationId, emailKey: string) {
  const id = await subscribeByEmail(tx, organizationId, emailKey)
  if (id) await recordSubscribed(tx, organizationId, id)
}

async function recordSubscribed(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<void> {
  recordChange(tx, organizationId, [id], { type: 'subscribed' })
  await recordContactChanges(tx, organizationId, sourceOf(tx), { subscribed: [id] })
}

/**
 * Unsubscribes many contacts, with an event for each. Returns how many had not unsubscribed before; contacts that do not
 * exist are skipped.
 */
export async function unsubscribeContacts(tx: Tx, organizationId: OrganizationId, ids: ContactId[]) {
  await lockAddresses(tx, organizationId, ids)
  const changed = await unsubscribeMany(tx, organizationId, ids)
  if (changed.length === 0) return 0
  await insertUnsubscriptions(tx, organizationId, changed)
  const events = changed.map(({ id }) => ({ id: newId('evt'), contactId: id }))
  insertHistory(
    tx,
    organizationId,
    events.map(({ id, contactId }) => ({ contactId, type: 'unsubscribed', eventId: id })),
  )
  await recordApiUnsubscriptions(tx, organizationId, events)
  return changed.length
}

/**
 * Unsubscribes the contacts with these addresses, without events. Returns the contacts that had not unsubscribed before,
 * with their previous subscription.
 */
export async function unsubscribeByEmail(tx: Tx, organizationId: OrganizationId, emailKeys: string[]) {
  const contacts = await lockSubscribed(tx, organizationId, emailKeys)
  const ids = contacts.map(({ id }) => id)
  await unsubscribeMany(tx, organizationId, ids)
  recordChange(tx, organizationId, ids, { type: 'unsubscribed' })
  return contacts
}
