import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { isQueryCanceled } from '../../platform/db/db.ts'
import { csvLine } from '../../platform/values/csv-line.ts'
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

/**
 * Returns the matching contacts as CSV, in pieces, oldest first: their fields and a column per attribute. Each piece is
 * read when the previous one was consumed, so that a slow client holds no connection to the database. `readAll`
 * has a longer time limit, for evaluating the filter. Throws `Refusal` if that takes too long.
 */
export async function exportContacts(
  { read, readAll }: { read: BoundedRead; readAll: BoundedRead },
  organizationId: OrganizationId,
  filter: ContactFilter,
): Promise<AsyncIterable<string>> {
  const names = await read(organizationId, (db) =>
    selectAttributeNames(db, organizationId, filter, attributeColumnsMax + 1).catch((error: unknown) => {
      if (isQueryCanceled(error)) return undefined
      throw error
    }),
  )
  const cells = cellsFor(names)
  const nextIds = (after?: ContactId) =>
    readAll(organizationId, (db) => selectMatchingIds(db, organizationId, filter, after, idsMax))
  const firstIds = await nextIds()
  return (async function* () {
    yield csvLine([...cells.keys()])
    for (let ids = firstIds; ids.length > 0; ids = ids.length < idsMax ? [] : await nextIds(ids.at(-1)))
      for (let at = 0; at < ids.length; at += rowsMax) {
        const batch = ids.slice(at, at + rowsMax)
        const contacts = await read(organizationId, (db) => selectContactsById(db, organizationId, batch))
        yield contacts.map((contact) => csvLine([...cells.values()].map((cell) => cell(contact)))).join('')
      }
  })()
}

function cellsFor(names: string[] | undefined): Map<string, (contact: Contact) => string> {
  const cells = new Map(Object.entries(columns))
  if (names === undefined || names.length > attributeColumnsMax)
    return cells.set('attributes', ({ attributes }) => JSON.stringify(attributes))
  for (const name of names)
    cells.set(cells.has(name) ? `attributes.${name}` : name, ({ attributes }) => attributeText(attributes[name]))
  return cells
}

const attributeText = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
