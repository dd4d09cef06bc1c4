import { type Sql, sql } from '../db/sql.ts'
import type { ContactStatus } from '../segments/filter.ts'
import { hasStatus, type MatchOptions, matchesFilter } from '../segments/matches.ts'
import type { CheckedFilter } from '../segments/parse-filter.ts'
import type { GroupId, OrganizationId } from '../values/ids.ts'
import { matchesWords } from './search.sql.ts'

/** Contacts that match everything that is given. */
export type ContactFilter = {
  query?: string | undefined
  groupId?: GroupId | undefined
  status?: ContactStatus | undefined
  /** The filter of a segment, and one that is not saved. */
  filters?: readonly CheckedFilter[] | undefined
}

/** Conditions on the rows of `contacts` that are true for the contacts of the organization that match the filter. */
export function contactConditions(
  organizationId: OrganizationId,
  { query = '', groupId, status, filters = [] }: ContactFilter,
  options: MatchOptions = {},
): Sql[] {
  return [
    ...matchesWords(organizationId, query),
    ...(groupId ? [isMember(organizationId, groupId)] : []),
    ...(status ? [hasStatus(organizationId, status)] : []),
    ...filters.map((filter) => matchesFilter(organizationId, filter, options)),
  ]
}

const isMember = (organizationId: OrganizationId, groupId: GroupId): Sql => sql`contacts.id in (
  select contact_id from group_members where organization_id = ${organizationId} and group_id = ${groupId})`
