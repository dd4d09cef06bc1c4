import { inTransaction, testRecipientId } from '../../audience/audience.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { notFound } from '../../platform/values/errors.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { forgetContents } from '../../sending/sending.ts'
import {
  deleteContact,
  deleteHistory,
  deleteImportChangesOf,
  deleteMemberships,
  emptyApiRequests,
  emptyDeliveries,
  emptyEvents,
  emptyImportProblems,
  emptyMessages,
  selectContentsOf,
} from './erase-contact.sql.ts'

/**
 * Erases the personal data of a contact: name, address, attributes, the content of messages, and IP addresses and user
 * agents of events. Counts stay, and so do suppressions of the address, so that it is not emailed again. Throws
 * `Refusal` if the contact does not exist.
 */
export async function eraseContact(db: Db, organizationId: OrganizationId, id: ContactId): Promise<void> {
  if (!(await inTransaction(db, (tx) => eraseInTransaction(tx, organizationId, id)))) throw notFound('contact')
}

/** Like `eraseContact`, but returns false if the contact does not exist. */
export async function eraseInTransaction(tx: Tx, organizationId: OrganizationId, id: ContactId): Promise<boolean> {
  // Deletes the contact first: adding it to a group locks its row, so the statements below see the membership.
  const emailKey = await deleteContact(tx, organizationId, id)
  if (emailKey === undefined) return false
  await deleteMemberships(tx, organizationId, id)
  await deleteHistory(tx, organizationId, id)
  await deleteImportChangesOf(tx, organizationId, id)
  const recipients = [id, testRecipientId(organizationId, emailKey)]
  const contents = await selectContentsOf(tx, organizationId, recipients)
  await emptyMessages(tx, organizationId, recipients)
  await forgetContents(tx, organizationId, contents, emailKey)
  await forgetContacts(tx, organizationId, [id])
  await emptyImportProblems(tx, organizationId, emailKey)
  await emptyApiRequests(tx, organizationId, emailKey)
  return true
}

/** Removes personal data from the events and deliveries of deleted contacts. */
export async function forgetContacts(tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]): Promise<void> {
  await emptyDeliveries(tx, organizationId, ids)
  await emptyEvents(tx, organizationId, ids)
}
