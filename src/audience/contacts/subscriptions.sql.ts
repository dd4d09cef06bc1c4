import type { Reader, Tx } from '../../platform/db/db.ts'
import { first, firstValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import type { ContactId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { Subscription } from './eligibility.ts'
import type { ContactAddress } from './locks.ts'
import { priorUnsubscription } from './subscription.ts'

// An unsubscription is stored twice: with the contact, and as a suppression of its address, which outlives the contact.

/** Returns undefined if the contact does not exist or already has this subscription. */
export const updateSubscription = (tx: Tx, organizationId: OrganizationId, id: ContactId, subscription: Subscription) =>
  first(tx<EmailAddress>`
    update contacts set subscription = ${subscription}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id} and subscription <> ${subscription}
    returning email, email_key`)

/** Returns the contacts that had not unsubscribed before. */
export const unsubscribeMany = (tx: Tx, organizationId: OrganizationId, ids: ContactId[]) =>
  tx<ContactAddress>`
    update contacts set subscription = 'unsubscribed', updated_at = now()
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and subscription <> 'unsubscribed'
    returning id, email, email_key`

export type SubscribedContact = { id: ContactId; subscription: Subscription }

/** Locks the contacts with these addresses that have not unsubscribed, in key order. */
export const lockSubscribed = (tx: Tx, organizationId: OrganizationId, emailKeys: string[]) =>
  tx<SubscribedContact>`
    select id, subscription from contacts
    where organization_id = ${organizationId} and email_key = any (${emailKeys}::text[])
      and subscription <> 'unsubscribed'
    order by email_key
    for no key update`

/** Subscribes the contact with this address if it had unsubscribed, and returns its id. */
export const subscribeByEmail = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  firstValue(tx<{ id: ContactId }>`
    update contacts set subscription = 'subscribed', updated_at = now()
    where organization_id = ${organizationId} and email_key = ${emailKey} and subscription = 'unsubscribed'
    returning id`)

export async function hasUnsubscribed(db: Reader, organizationId: OrganizationId, emailKey: string): Promise<boolean> {
  const [row] = await db<{ subscription: Subscription | null }>`
    select ${priorUnsubscription(sql`${organizationId}`, sql`${emailKey}`)} as subscription`
  return row!.subscription !== null
}

/** An address that unsubscribed before keeps its suppression. */
export const insertUnsubscriptions = (
  tx: Tx,
  organizationId: OrganizationId,
  addresses: EmailAddress[],
  messageId: MessageId | null = null,
) =>
  tx`
    insert into suppressions (organization_id, email_key, reason, email, message_id)
    select ${organizationId}, email_key, 'unsubscribe', email, ${messageId}::uuid
    from unnest(
      ${addresses.map(({ emailKey }) => emailKey)}::text[],
      ${addresses.map(({ email }) => email)}::text[]
    ) as address (email_key, email)
    order by email_key
    on conflict do nothing`

export const deleteUnsubscription = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  tx`
    delete from suppressions
    where organization_id = ${organizationId} and email_key = ${emailKey} and reason = 'unsubscribe'`

/**
 * Adds the message to an unsubscription that came from somewhere else: the recipient confirmed it, so undoing an import
 * does not remove it.
 */
export const confirmUnsubscription = (
  tx: Tx,
  organizationId: OrganizationId,
  contactId: ContactId,
  messageId: MessageId,
) =>
  tx`
    update suppressions set message_id = ${messageId}
    from contacts
    where suppressions.organization_id = ${organizationId} and suppressions.reason = 'unsubscribe'
      and suppressions.message_id is null and suppressions.email_key = contacts.email_key
      and contacts.organization_id = ${organizationId} and contacts.id = ${contactId}`
