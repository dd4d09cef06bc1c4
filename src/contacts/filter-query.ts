import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { organizationIdOf } from '../accounts/guards.ts'
import type { Db } from '../db/db.ts'
import { oneOf } from '../http/envelope.ts'
import { jsonParameterMax } from '../http/paging.ts'
import { contactStatuses } from '../segments/filter.ts'
import { parseFilter } from '../segments/parse-filter.ts'
import { getSegment } from '../segments/segments.ts'
import { parseIdParam } from '../values/id-params.ts'
import { leastId, parseId } from '../values/ids.ts'
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
  const {
    query,
    group_id: group,
    segment_id: segment,
    import_id: imported,
    status,
    filter,
  } = request.query as FilterQuery
  const importId = imported ? parseIdParam('imp', imported) : undefined
  const segmentId = segment ? parseIdParam('seg', segment) : undefined
  return {
    query: query?.replaceAll('\0', ''),
    imported: importId && (await contactsOfImport(db, organizationIdOf(request), importId)),
    groupId: group ? (parseId('grp', group) ?? noGroup) : undefined,
    status,
    filters: [
      ...(segmentId ? [(await getSegment(db, organizationIdOf(request), segmentId)).filter] : []),
      ...(filter ? [parseFilter(request, filter)] : []),
    ],
  }
}
