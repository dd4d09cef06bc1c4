import { inTransaction } from '../contacts/transaction.ts'
import type { Db } from '../db/db.ts'
import { notFound } from '../values/errors.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import {
  deleteContact,
  deleteHistory,
  deleteMemberships,
  emptyDeliveries,
  emptyEvents,
  emptyImportProblems,
  emptyMessages,
} from './erase-contact.sql.ts'

/**
 * Erases a person: name, address, attributes, the contents of messages and where they were read. Counts stay, and so does a
 * suppression of the address: without it an objection could not be honoured. Throws `Refusal` if there is no such contact.
 */
export async function eraseContact(db: Db, organizationId: OrganizationId, id: ContactId): Promise<void> {
  await inTransaction(db, async (tx) => {
    // The contact first: adding it to a group locks its row, so that the statements below see the membership.
    const emailKey = await deleteContact(tx, organizationId, id)
    if (emailKey === undefined) throw notFound('contact')
    await deleteMemberships(tx, organizationId, id)
    await deleteHistory(tx, organizationId, id)
    await emptyMessages(tx, organizationId, id)
    await emptyDeliveries(tx, organizationId, id)
    await emptyEvents(tx, organizationId, id)
    await emptyImportProblems(tx, organizationId, emailKey)
  })
}
