import { type BoundedRead, undefinedIfTooSlow } from '../../platform/db/bounded-read.ts'
import type { PageRequest } from '../../platform/http/paging.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { ContactFilter } from './contact-filter.ts'
import { type Contact, type ContactOrder, selectContacts } from './contacts.sql.ts'

/** Both have a time limit. The limit of `readFirst` is short. */
export type ListReads = { readFirst: BoundedRead; read: BoundedRead }

/**
 * Lists contacts. A page of a filter that many contacts match is found within milliseconds by testing them in their
 * order. If that takes longer, few match, and all of them are determined first. Throws `Refusal` if that takes too long.
 */
export async function listContacts(
  { readFirst, read }: ListReads,
  organizationId: OrganizationId,
  filter: ContactFilter,
  page: PageRequest,
  order?: ContactOrder,
): Promise<Contact[]> {
  const select = { ...(order && { order }) }
  if (!filter.filters?.length)
    return read(organizationId, (db) => selectContacts(db, organizationId, filter, page, select))
  const first = await readFirst(organizationId, (db) => selectContacts(db, organizationId, filter, page, select)).catch(
    undefinedIfTooSlow,
  )
  if (first) return first
  return read(organizationId, (db) => selectContacts(db, organizationId, filter, page, { ...select, isRare: true }))
}
