import { listConsents } from '../contacts/consents.ts'
import { testRecipientId } from '../contacts/test-recipient.ts'
import type { BoundedRead } from '../db/bounded-read.ts'
import { notFound } from '../values/errors.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import { contactOut, entryOut, type Lists } from './export-contact.shapes.ts'
import {
  type Bounded,
  findContactToExport,
  selectDeliveriesToExport,
  selectEventsToExport,
  selectGroupsToExport,
  selectHistoryToExport,
  selectImportRowsToExport,
  selectInboxToExport,
  selectMessagesToExport,
  selectSuppressionsToExport,
} from './export-contact.sql.ts'

/**
 * Reads everything stored about one person and returns it as pieces of one JSON text, so that serializing a large export
 * leaves the event loop free in between. Throws `Refusal` if there is no such contact.
 */
export async function exportContact(
  read: BoundedRead,
  organizationId: OrganizationId,
  id: ContactId,
): Promise<Iterable<string>> {
  return read(organizationId, async (db) => {
    const contact = await findContactToExport(db, organizationId, id)
    if (!contact) throw notFound('contact')
    const ids = [id, testRecipientId(organizationId, contact.emailKey)]
    const lists: { [Name in keyof Lists]: Bounded<Parameters<(typeof entryOut)[Name]>[0]> } = {
      groups: await selectGroupsToExport(db, organizationId, id),
      history: await selectHistoryToExport(db, organizationId, id),
      consents: { rows: await listConsents(db, organizationId, id), isTruncated: false },
      messages: await selectMessagesToExport(db, organizationId, ids),
      events: await selectEventsToExport(db, organizationId, id),
      webhook_deliveries: await selectDeliveriesToExport(db, organizationId, id),
      suppressions: await selectSuppressionsToExport(db, organizationId, contact.emailKey),
      inbox: await selectInboxToExport(db, organizationId, ids),
      rejected_import_rows: await selectImportRowsToExport(db, organizationId, contact.emailKey),
    }
    const names = Object.keys(lists) as (keyof Lists)[]
    const head = {
      exported_at: new Date().toISOString(),
      contact: contactOut({ ...contact, id }),
      truncated: names.filter((name) => lists[name].isTruncated),
    }
    return jsonPieces(head, lists)
  })
}

/** The envelope of the API, with one piece per entry of a list. */
function* jsonPieces(head: object, lists: Record<keyof Lists, Bounded<unknown>>): Iterable<string> {
  yield `{"code":200,"status":"success","message":"OK","data":${JSON.stringify(head).slice(0, -1)}`
  for (const name of Object.keys(lists) as (keyof Lists)[]) {
    const toEntry = entryOut[name] as (row: unknown) => unknown
    yield `,"${name}":[`
    let separator = ''
    for (const row of lists[name].rows) {
      yield `${separator}${JSON.stringify(toEntry(row))}`
      separator = ',\n'
    }
    yield ']'
  }
  yield '}}\n'
}
