import type { Reader } from '../../platform/db/db.ts'
import { existing } from '../../platform/values/errors.ts'
import { type ContactId, type ImportId, leastId, type OrganizationId } from '../../platform/values/ids.ts'
import { findImportSpan } from './imported-contacts.sql.ts'

/** Returns bounds for the ids of the contacts that an import created, because ids contain a time. */
export const createdSpan = (startedAt: Date, finishedAt: Date): [first: ContactId, last: ContactId] => [
  leastId('con', +startedAt - 1_000),
  leastId('con', +finishedAt + 60_000),
]

/** Throws `Refusal` if the import does not exist. */
export async function contactsOfImport(db: Reader, organizationId: OrganizationId, id: ImportId) {
  const { groupId, createdAt, finishedAt } = await existing('import', findImportSpan(db, organizationId, id))
  const [first, last] = createdSpan(createdAt, finishedAt ?? new Date())
  return { id, groupId, first, last }
}
