import { type Db, isUniqueViolation, type Reader, type Tx } from '../db/db.ts'
import { recordApiUnsubscription } from '../events/unsubscription.ts'
import { parseEmail } from '../values/email.ts'
import { invalid, notFound, Refusal } from '../values/errors.ts'
import { type ContactId, type MessageId, newId, type OrganizationId } from '../values/ids.ts'
import {
  type Contact,
  insertContact,
  type LockedContact,
  lockContact,
  type RecipientFields,
  selectContact,
  selectRecipient,
  updateContact,
  updateSubscription,
} from './contacts.sql.ts'
import { type Parsed, readAttributes, readName } from './fields.ts'
import { joinGroups } from './groups.ts'
import { insertHistory } from './history.sql.ts'
import type { Actor } from './history.ts'
import { deleteSuppressions, insertSuppressions, selectSuppressionsOf } from './suppressions.sql.ts'
import { inTransaction } from './transaction.ts'

export type { Contact } from './contacts.sql.ts'

const emailTaken = () => new Refusal('conflict', 'A contact with this email address already exists.')

export async function getContact(db: Reader, organizationId: OrganizationId, id: ContactId): Promise<Contact> {
  const contact = await selectContact(db, organizationId, id)
  if (!contact) throw notFound('contact')
  return contact
}

/** Returns the contact with this address as templates see it; all fields but the address are empty if there is none. */
export async function recipientOf(db: Reader, organizationId: OrganizationId, email: string): Promise<RecipientFields> {
  const parsed = parseEmail(email)
  const known = parsed.ok ? await selectRecipient(db, organizationId, parsed.key) : undefined
  return known ?? { email, firstName: null, lastName: null, attributes: {} }
}

export type ContactInput = {
  email?: string
  first_name?: string | null
  last_name?: string | null
  attributes?: Record<string, unknown>
}

/**
 * Creates a subscribed contact, or an unsubscribed one if the address unsubscribed earlier. Throws `Refusal` if the
 * address is taken or a group does not exist.
 */
export async function createContact(
  db: Db,
  organizationId: OrganizationId,
  input: ContactInput & { email: string; group_ids?: string[] },
  actor: Actor,
): Promise<Contact> {
  const fields = readFields(input)
  const email = readEmail(input.email)
  return inTransaction(db, async (tx) => {
    const id = await insertContact(tx, organizationId, { ...fields, ...email, id: newId('con') }, actor)
    if (!id) throw emailTaken()
    if (input.group_ids?.length) await joinGroups(tx, organizationId, input.group_ids, id, actor)
    return getContact(tx, organizationId, id)
  })
}

export type ContactEdit = ContactInput & { status?: 'subscribed' | 'unsubscribed' }

export async function editContact(
  db: Db,
  organizationId: OrganizationId,
  id: ContactId,
  edit: ContactEdit,
  actor: Actor,
): Promise<Contact> {
  const fields = readFields(edit)
  const email = edit.email === undefined ? { email: undefined, emailKey: undefined } : readEmail(edit.email)
  return inTransaction(db, async (tx) => {
    const locked = await lockContact(tx, organizationId, id)
    if (!locked) throw notFound('contact')
    const edited = await updateContact(tx, organizationId, id, { ...fields, ...email }).catch((error) => {
      throw isUniqueViolation(error) ? emailTaken() : error
    })
    if (edited.length > 0)
      await insertHistory(tx, organizationId, id, { type: 'edited', actor, details: { fields: edited } })
    if (email.email !== undefined && email.emailKey !== locked.emailKey)
      await carryUnsubscription(tx, organizationId, id, locked, email)
    if (edit.status === 'subscribed') await resubscribe(tx, organizationId, id, actor)
    if (edit.status === 'unsubscribed' && (await unsubscribe(tx, organizationId, id))) {
      const eventId = newId('evt')
      await insertHistory(tx, organizationId, id, { type: 'unsubscribed', actor, eventId })
      await recordApiUnsubscription(tx, { id: eventId, organizationId, contactId: id })
    }
    return getContact(tx, organizationId, id)
  })
}

/**
 * Keeps an unsubscribed contact unsubscribed under its new address, and unsubscribes a contact whose new address had
 * unsubscribed.
 */
async function carryUnsubscription(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
  locked: LockedContact,
  address: { email: string; emailKey: string },
): Promise<void> {
  const entries = await selectSuppressionsOf(tx, organizationId, address.emailKey)
  if (locked.subscription === 'unsubscribed')
    await insertSuppressions(tx, [{ organizationId, ...address, reason: 'unsubscribe', detail: null, messageId: null }])
  else if (
    entries.some(({ reason }) => reason === 'unsubscribe') &&
    (await updateSubscription(tx, organizationId, id, 'unsubscribed'))
  )
    await insertHistory(tx, organizationId, id, { type: 'unsubscribed', actor: { type: 'system', id: null } })
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
  await insertSuppressions(tx, [{ organizationId, ...contact, reason: 'unsubscribe', detail: null, messageId }])
  return true
}

/**
 * Returns false if the contact does not exist or is already subscribed. Hard bounces, complaints and manual
 * suppressions stay.
 */
export async function resubscribe(
  tx: Tx,
  organizationId: OrganizationId,
  id: ContactId,
  actor: Actor,
): Promise<boolean> {
  const contact = await updateSubscription(tx, organizationId, id, 'subscribed')
  if (!contact) return false
  await deleteSuppressions(tx, organizationId, contact.emailKey, ['unsubscribe'])
  await insertHistory(tx, organizationId, id, { type: 'subscribed', actor })
  return true
}

function readEmail(input: string): { email: string; emailKey: string } {
  const email = parseEmail(input)
  if (!email.ok) throw invalid({ path: 'email', problem: email.problem })
  return { email: email.address, emailKey: email.key }
}

function readFields(input: ContactInput) {
  return {
    firstName: checked('first_name', readName(input.first_name)),
    lastName: checked('last_name', readName(input.last_name)),
    attributes: checked('attributes', readAttributes(input.attributes)),
  }
}

function checked<Value>(path: string, read: Parsed<Value>): Value {
  if (!read.ok) throw invalid({ path, problem: read.problem })
  return read.value
}
