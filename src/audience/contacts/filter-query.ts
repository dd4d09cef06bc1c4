import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { oneOf } from '../../platform/http/envelope.ts'
import { jsonParameterMax } from '../../platform/http/paging.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { leastId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { contactStatuses } from '../segments/filter.ts'
import { resolveFilter } from '../segments/nested-segments.ts'
import { type CheckedFilter, parseFilter } from '../segments/parse-filter.ts'
import { getSegment } from '../segments/segments.ts'
import type { ContactFilter } from './contact-filter.ts'
import { contactsOfImport } from './imported-contacts.ts'

export const queryMax = 200
/** A group that does not exist has no members. */
const noGroup = leastId('grp', 0)

/** Query parameters of every route that reads contacts by a filter. */
export const filterQuery = {
  query: Type.Optional(
    Type.String({
      maxLength: queryMax,
      description: 'Words to find in the address or the name. A word with an @ matches the start of the address.',
    }),
  ),
  group_id: Type.Optional(Type.String()),
  segment_id: Type.Optional(Type.String()),
  import_id: Type.Optional(
    Type.String({
      description:
        'Contacts that the import created or added to its group, and for 7 days those it changed otherwise. None after it was undone, except those that were kept.',
    }),
  ),
  status: Type.Optional(oneOf(...contactStatuses)),
  filter: Type.Optional(
    Type.String({
      maxLength: jsonParameterMax,
      description:
        'A filter as in a segment (`ContactFilter`), as JSON text. Save a longer one as a segment and use `segment_id`.',
    }),
  ),
}

type FilterQuery = Static<ReturnType<typeof Type.Object<typeof filterQuery>>>

/** Parses the parameters. Throws `Refusal` if one is invalid, or the segment does not exist. */
export async function readFilter(db: Db, request: FastifyRequest): Promise<ContactFilter> {
  // An empty parameter is the same as none.
  const given = Object.entries(request.query as FilterQuery).filter(([, value]) => value !== '')
  const { filter, group_id: group, ...matching }: FilterQuery = Object.fromEntries(given)
  const parsed = filter === undefined ? undefined : parseFilter(request, filter)
  const contactFilter = await parseMatching(db, organizationIdOf(request), matching, parsed)
  return { ...contactFilter, groupId: group === undefined ? undefined : (parseId('grp', group) ?? noGroup) }
}

type Matching = Omit<FilterQuery, 'filter'>

/** Parses the filter of a query or a body. Throws `Refusal` if a record does not exist. */
export async function parseMatching(
  db: Db,
  organizationId: OrganizationId,
  { query, group_id: group, segment_id: segment, import_id: imported, status }: Matching,
  filter: CheckedFilter | undefined,
): Promise<ContactFilter> {
  const groupId = group === undefined ? undefined : parseIdParam('grp', group)
  const importId = imported === undefined ? undefined : parseIdParam('imp', imported)
  const segmentId = segment === undefined ? undefined : parseIdParam('seg', segment)
  const saved = segmentId && (await getSegment(db, organizationId, segmentId)).filter
  const filters = [saved, filter].filter((each) => each !== undefined)
  return {
    query: query?.replaceAll('\0', ''),
    imported: importId && (await contactsOfImport(db, organizationId, importId)),
    groupId,
    status,
    filters: await Promise.all(filters.map((each) => resolveFilter(db, organizationId, each))),
  }
}
