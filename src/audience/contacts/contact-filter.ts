import { type Sql, sql } from '../../platform/db/sql.ts'
import type { ContactId, GroupId, ImportId, OrganizationId } from '../../platform/values/ids.ts'
import type { ContactStatus } from '../segments/filter.ts'
import { hasStatus, type MatchOptions, matchesFilter } from '../segments/matches.ts'
import type { ResolvedFilter } from '../segments/nested-segments.ts'
import { matchesWords } from './search.ts'

/** The contacts of an import: those it created have ids between `first` and `last`, because ids contain a time. */
export type ImportedContacts = { id: ImportId; groupId: GroupId | null; first: ContactId; last: ContactId }

/** Contacts that match everything that is given. */
export type ContactFilter = {
  query?: string | undefined
  groupId?: GroupId | undefined
  imported?: ImportedContacts | undefined
  status?: ContactStatus | undefined
  /** The filter of a segment, and one that is not saved. */
  filters?: readonly ResolvedFilter[] | undefined
}

/** Conditions on the rows of `contacts` that are true for the contacts of the organization that match the filter. */
export function contactConditions(
  organizationId: OrganizationId,
  { query = '', groupId, imported, status, filters = [] }: ContactFilter,
  options: MatchOptions = {},
): Sql[] {
  return [
    ...matchesWords(organizationId, query),
    ...(groupId ? [isMember(organizationId, groupId)] : []),
    ...(imported ? [isImported(organizationId, imported)] : []),
    ...(status ? [hasStatus(organizationId, status)] : []),
    ...filters.map((filter) => matchesFilter(organizationId, filter, options)),
  ]
}

const isMember = (organizationId: OrganizationId, groupId: GroupId): Sql => sql`contacts.id in (
  select contact_id from group_members where organization_id = ${organizationId} and group_id = ${groupId})`

/** Reads as many rows as the import created and changed, and its group. */
const isImported = (organizationId: OrganizationId, { id, groupId, first, last }: ImportedContacts): Sql => sql`
  contacts.id in (
    select created.id from contacts as created
    where created.organization_id = ${organizationId} and created.created_by_type = 'import'
      and created.created_by_id = ${id} and created.id > ${first} and created.id < ${last}
    union all
    select contact_id from group_members
    where organization_id = ${organizationId} and group_id = ${groupId}::uuid and added_by_id = ${id}
    union all
    select contact_id from import_changes
    where organization_id = ${organizationId} and import_id = ${id} and contact_id is not null)`
