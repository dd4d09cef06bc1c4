import {
  checkFilter,
  countResolved,
  getSegment,
  type ResolvedFilter,
  resolveFilter,
  type Segment,
} from '../../audience/audience.ts'
import type { Reader } from '../../platform/db/db.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { type GroupId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { type Audience, findBroadcast } from '../broadcasts.sql.ts'
import { type AudienceQuery, isEmpty, type ResolvedAudience, selectExistingGroups } from './audience.sql.ts'

/** Of all segments together. Each condition is evaluated for every contact of the organization. */
const audienceConditionsMax = 200

/** Throws `Refusal` if a group or segment does not exist, or if the segments have too many conditions. */
export async function resolveAudience(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
): Promise<ResolvedAudience> {
  checkAlone(audience)
  const included = {
    allSubscribed: audience.all_subscribed ?? false,
    groupIds: await existingGroups(db, organizationId, audience, 'group_ids'),
    filters: [
      ...(await existingSegments(db, organizationId, audience, 'segment_ids')),
      ...(await notOpenedFilter(db, organizationId, audience)),
    ],
  }
  const excluded = {
    allSubscribed: false,
    groupIds: await existingGroups(db, organizationId, audience, 'exclude_group_ids'),
    filters: await existingSegments(db, organizationId, audience, 'exclude_segment_ids'),
  }
  const conditions = [...included.filters, ...excluded.filters].reduce((sum, each) => sum + countResolved(each), 0)
  if (conditions > audienceConditionsMax)
    throw invalid({
      path: 'audience',
      problem: `names segments with ${conditions} conditions together. At most ${audienceConditionsMax} are allowed`,
    })
  return { included, excluded }
}

/** Returns the query of an audience. Throws `Refusal` if it is empty or invalid. */
export async function queryAudience(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
  options: Pick<AudienceQuery, 'flowKind' | 'now'>,
): Promise<AudienceQuery> {
  const resolved = await resolveAudience(db, organizationId, audience)
  if (isEmpty(resolved.included))
    throw invalid({ path: 'audience', problem: 'must name at least one group or segment, or all subscribed contacts' })
  return { organizationId, audience: resolved, ...options }
}

/** Throws `Refusal` if an audience that is given as a whole is combined with others. Contacts can be excluded from it. */
function checkAlone({ all_subscribed, not_opened_broadcast_id, group_ids, segment_ids }: Audience): void {
  const others = group_ids.length + segment_ids.length
  if (all_subscribed && (others > 0 || not_opened_broadcast_id))
    throw invalid({ path: 'audience.all_subscribed', problem: 'cannot be combined with others. They can be excluded' })
  if (not_opened_broadcast_id && others > 0)
    throw invalid({
      path: 'audience.not_opened_broadcast_id',
      problem: 'cannot be combined with groups and segments',
    })
}

/** The filter is evaluated at the start, so that contacts who open the email until then are left out. */
async function notOpenedFilter(
  db: Reader,
  organizationId: OrganizationId,
  { not_opened_broadcast_id: text }: Audience,
): Promise<ResolvedFilter[]> {
  if (!text) return []
  const path = 'audience.not_opened_broadcast_id'
  const id = parseId('brc', text)
  const broadcast = id && (await findBroadcast(db, organizationId, id))
  if (!broadcast?.startedAt) throw invalid({ path, problem: 'is not a broadcast that was sent' })
  const filter = checkFilter({ type: 'broadcast', operator: 'not_opened', broadcast_id: text })
  return [{ filter, segments: {} }]
}

async function existingGroups(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
  field: 'group_ids' | 'exclude_group_ids',
): Promise<GroupId[]> {
  const ids = audience[field].map((text) => parseId('grp', text))
  const known = ids.flatMap((id) => id ?? [])
  const existing = known.length > 0 ? new Set(await selectExistingGroups(db, organizationId, known)) : new Set()
  const missing = ids.findIndex((id) => !id || !existing.has(id))
  if (missing !== -1) throw invalid({ path: `audience.${field}.${missing}`, problem: 'does not exist' })
  return known
}

async function existingSegments(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
  field: 'segment_ids' | 'exclude_segment_ids',
): Promise<ResolvedFilter[]> {
  const filters: ResolvedFilter[] = []
  for (const [position, text] of audience[field].entries()) {
    const segment = await findSegment(db, organizationId, text)
    if (!segment) throw invalid({ path: `audience.${field}.${position}`, problem: 'does not exist' })
    filters.push(await resolveFilter(db, organizationId, segment.filter))
  }
  return filters
}

/** Returns undefined if there is no such segment. */
async function findSegment(db: Reader, organizationId: OrganizationId, text: string): Promise<Segment | undefined> {
  const id = parseId('seg', text)
  if (!id) return undefined
  return getSegment(db, organizationId, id).catch((error) => {
    if (error instanceof Refusal && error.type === 'not_found') return undefined
    throw error
  })
}

/** Returns an audience without groups and segments that were deleted. */
export async function withoutDeleted(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
): Promise<Audience> {
  const parsed = [...audience.group_ids, ...audience.exclude_group_ids].flatMap((text) => parseId('grp', text) ?? [])
  const groups = new Set(await selectExistingGroups(db, organizationId, parsed))
  const isGroup = (text: string) => groups.has(parseId('grp', text)!)
  const segments = new Set<string>()
  for (const text of [...audience.segment_ids, ...audience.exclude_segment_ids])
    if (await findSegment(db, organizationId, text)) segments.add(text)
  const isSegment = (text: string) => segments.has(text)
  return {
    group_ids: audience.group_ids.filter(isGroup),
    segment_ids: audience.segment_ids.filter(isSegment),
    exclude_group_ids: audience.exclude_group_ids.filter(isGroup),
    exclude_segment_ids: audience.exclude_segment_ids.filter(isSegment),
    all_subscribed: audience.all_subscribed ?? false,
    not_opened_broadcast_id: audience.not_opened_broadcast_id ?? null,
  }
}
