import { type BoundedRead, undefinedIfTooSlow } from '../../platform/db/bounded-read.ts'
import { type CsvColumns, pagesOf } from '../../platform/http/csv.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { toText } from '../../platform/values/ids.ts'
import type { ContactFilter } from './contact-filter.ts'
import { type Contact, selectContactsById } from './contacts.sql.ts'
import { selectAttributeNames, selectMatchingIds } from './export.sql.ts'

/** The filter is evaluated once for this many contacts. */
const idsMax = 20_000
const rowsMax = 500
/** More attributes, or attributes that take too long to find, are in one column, as JSON. */
const attributeColumnsMax = 200

const columns: Record<string, (contact: Contact) => string> = {
  id: ({ id }) => toText('con', id),
  email: ({ email }) => email,
  first_name: ({ firstName }) => firstName ?? '',
  last_name: ({ lastName }) => lastName ?? '',
  status: ({ status }) => status,
  groups: ({ groups }) => groups.map(({ name }) => name).join('; '),
  created_at: ({ createdAt }) => createdAt.toISOString(),
  last_active_at: ({ lastActiveAt }) => lastActiveAt?.toISOString() ?? '',
}

/** Returns the columns of an export of the matching contacts: their fields and a column per attribute. */
export async function exportColumns(
  read: BoundedRead,
  organizationId: OrganizationId,
  filter: ContactFilter,
): Promise<CsvColumns<Contact>> {
  const names = await read(organizationId, (db) =>
    selectAttributeNames(db, organizationId, filter, attributeColumnsMax + 1),
  ).catch(undefinedIfTooSlow)
  const cells = new Map(Object.entries(columns))
  if (names === undefined || names.length > attributeColumnsMax)
    cells.set('attributes', ({ attributes }) => JSON.stringify(attributes))
  else
    for (const name of names)
      cells.set(cells.has(name) ? `attributes.${name}` : name, ({ attributes }) => attributeText(attributes[name]))
  return [...cells]
}

/**
 * Reads the matching contacts in pages, oldest first. `readAll` has a longer time limit, for evaluating the filter. Throws
 * `Refusal` if that takes too long.
 */
export async function* exportedContacts(
  { read, readAll }: { read: BoundedRead; readAll: BoundedRead },
  organizationId: OrganizationId,
  filter: ContactFilter,
): AsyncGenerator<Contact[]> {
  const nextIds = (last: ContactId | undefined) =>
    readAll(organizationId, (db) => selectMatchingIds(db, organizationId, filter, last, idsMax))
  for await (const ids of pagesOf(idsMax, nextIds))
    for (let at = 0; at < ids.length; at += rowsMax)
      yield await read(organizationId, (db) => selectContactsById(db, organizationId, ids.slice(at, at + rowsMax)))
}

const attributeText = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
