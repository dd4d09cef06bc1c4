import { recordApiUnsubscription, recordContactChanges } from '../../events/events.ts'
import { type Db, isUniqueViolation, type Reader } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { type EmailAddress, parseEmail } from '../../platform/values/email.ts'
import { conflict, existing, invalid } from '../../platform/values/errors.ts'
import { type ContactId, type GroupId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import {
  type Contact,
  insertContact,
  lockContact,
  type RecipientFields,
  selectContact,
  selectRecipient,
  updateContact,
} from './contacts.sql.ts'
import type { ContactFields } from './fields.ts'
import { joinGroups } from './groups.ts'
import { insertHistory, sourceOf } from './history.ts'
import { carryUnsubscription, resubscribe, unsubscribe } from './subscriptions.ts'
import { inTransaction } from './transaction.ts'

export type { Contact } from './contacts.sql.ts'

const emailTaken = () => conflict('A contact with this email address already exists.')

export const getContact = (db: Reader, organizationId: OrganizationId, id: ContactId) =>
  existing('contact', selectContact(db, organizationId, id))

/** Returns the contact with this address as templates see it; all fields but the address are empty if there is none. */
export async function recipientOf(db: Reader, organizationId: OrganizationId, email: string): Promise<RecipientFields> {
  const parsed = parseEmail(email)
  const known = parsed.ok ? await selectRecipient(db, organizationId, parsed.key) : undefined
  return known ?? { email, firstName: null, lastName: null, attributes: {} }
}

export type NewContact = ContactFields & {
  address: EmailAddress
  groupIds: GroupId[]
  /** Members of a group are subscribed. */
  subscription: 'subscribed' | 'not_subscribed'
}

/**
 * Creates a contact, which is unsubscribed if the address unsubscribed earlier. Throws `Refusal` if the address is taken
 * or a group does not exist.
 */
export async function createContact(
  db: Db,
  organizationId: OrganizationId,
  { address, groupIds, ...fields }: NewContact,
  actor: Actor,
): Promise<Contact> {
  if (groupIds.length > 0 && fields.subscription !== 'subscribed')
    throw invalid({ path: 'subscription', problem: 'must be "subscribed" when group_ids are given' })
  return inTransaction(db.by(actor), async (tx) => {
    const id = await insertContact(tx, organizationId, { ...fields, ...address, id: newId('con') })
    if (!id) throw emailTaken()
    if (groupIds.length > 0) await joinGroups(tx, organizationId, groupIds, id)
    await recordContactChanges(tx, organizationId, sourceOf(tx), { created: [id] })
    return getContact(tx, organizationId, id)
  })
}

export type ContactEdit = Partial<ContactFields> & {
  address?: EmailAddress | undefined
  status?: 'subscribed' | 'unsubscribed' | undefined
  checkUnchanged?: CheckUnchanged<Contact> | undefined
}

export async function editContact(
  db: Db,
  organizationId: OrganizationId,
  id: ContactId,
  { address, status, checkUnchanged, ...fields }: ContactEdit,
  actor: Actor,
): Promise<Contact> {
  return inTransaction(db.by(actor), async (tx) => {
    const locked = await existing('contact', lockContact(tx, organizationId, id))
    checkUnchanged?.(await getContact(tx, organizationId, id))
    const edited = await updateContact(tx, organizationId, id, { ...fields, ...address }).catch((error) => {
      throw isUniqueViolation(error) ? emailTaken() : error
    })
    if (edited.length > 0) {
      insertHistory(tx, organizationId, [{ contactId: id, type: 'edited', details: { fields: edited } }])
      await recordContactChanges(tx, organizationId, sourceOf(tx), { updated: [{ id, fields: edited }] })
    }
    if (address && address.emailKey !== locked.emailKey)
      await carryUnsubscription(tx, organizationId, id, locked.subscription, address)
    if (status === 'subscribed') await resubscribe(tx, organizationId, id)
    if (status === 'unsubscribed' && (await unsubscribe(tx, organizationId, id))) {
      const eventId = newId('evt')
      insertHistory(tx, organizationId, [{ contactId: id, type: 'unsubscribed', eventId }])
      await recordApiUnsubscription(tx, { id: eventId, organizationId, contactId: id })
    }
    return getContact(tx, organizationId, id)
  })
}
