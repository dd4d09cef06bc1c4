import type { Reader } from '../../platform/db/db.ts'
import { invalid } from '../../platform/values/errors.ts'
import type { OrganizationId, SegmentId } from '../../platform/values/ids.ts'
import type { Filter } from './filter.ts'
import { nestedSegmentsMax, resolvedConditionsMax } from './filter-limits.ts'
import { type CheckedFilter, countConditions, segmentIdsIn } from './parse-filter.ts'
import { type Segment, selectSegmentsById, selectUsers } from './segments.sql.ts'

/** The filters of segments by their ids. An object, because bulk actions store it as JSON. */
export type NestedSegments = Readonly<Record<SegmentId, Filter>>

/** A filter with the filters of all segments that it names, directly or through others. They have no cycle. */
export type ResolvedFilter = { filter: CheckedFilter; segments: NestedSegments }

/**
 * Reads the segments that a filter names, with one query for each level, and none if it names no segment. Throws `Refusal`
 * if a segment does not exist, or the limits are exceeded.
 */
export async function resolveFilter(
  db: Reader,
  organizationId: OrganizationId,
  filter: CheckedFilter,
): Promise<ResolvedFilter> {
  const segments: Record<SegmentId, Filter> = {}
  let missing = segmentIdsIn(filter)
  for (let level = 0; missing.length > 0 && level < nestedSegmentsMax; level++) {
    const rows = await selectSegmentsById(db, organizationId, missing)
    if (rows.length < new Set(missing).size)
      throw invalid({ path: 'filter', problem: 'names a segment that does not exist' })
    for (const row of rows) segments[row.id] = row.filter
    missing = rows.flatMap((row) => segmentIdsIn(row.filter)).filter((id) => !segments[id])
  }
  const problem = problemOf(filter, segments)
  if (problem) throw invalid({ path: 'filter', problem })
  return { filter, segments }
}

/** Returns the number of conditions in a filter and, for each use, those of the segments that it names. */
export const countResolved = ({ filter, segments }: ResolvedFilter): number =>
  countConditions(filter) +
  segmentIdsIn(filter).reduce(
    (sum, id) => sum + countResolved({ filter: segments[id] as CheckedFilter, segments }) - 1,
    0,
  )

/** Returns why a filter cannot be evaluated, or undefined. A cycle exceeds the depth as well. */
function problemOf(filter: Filter, segments: NestedSegments): string | undefined {
  let conditions = 0
  const visit = (part: Filter, depth: number): string | undefined => {
    conditions += countConditions(part)
    if (conditions > resolvedConditionsMax)
      return `has more than ${resolvedConditionsMax} conditions together with the segments that it names`
    const ids = segmentIdsIn(part)
    if (ids.length > 0 && depth === nestedSegmentsMax)
      return `names segments that are nested more than ${nestedSegmentsMax} levels deep`
    for (const id of ids) {
      const nested = segments[id]
      const problem = nested && visit(nested, depth + 1)
      if (problem) return problem
    }
    return undefined
  }
  return visit(filter, 0)
}

/**
 * Checks the segments of an organization as they would be after a change of one of them. Throws `Refusal` if it would contain
 * itself, or if a segment would exceed the limits.
 */
export function checkNesting(changed: Pick<Segment, 'id' | 'filter'>, all: readonly Segment[]): void {
  const segments: NestedSegments = Object.fromEntries([...all, changed].map(({ id, filter }) => [id, filter]))
  const refuse = (problem: string) => invalid({ path: 'filter', problem })
  const visited = new Set<SegmentId>()
  const reaches = (filter: Filter): boolean =>
    segmentIdsIn(filter).some((id) => {
      if (id === changed.id) return true
      if (visited.has(id)) return false
      visited.add(id)
      const nested = segments[id]
      return nested !== undefined && reaches(nested)
    })
  if (reaches(changed.filter)) throw refuse('names a segment that contains this one, so it would contain itself')
  const problem = problemOf(changed.filter, segments)
  if (problem) throw refuse(problem)
  for (const { id, name, filter } of all) {
    if (id === changed.id || segmentIdsIn(filter).length === 0) continue
    const other = problemOf(filter, segments)
    if (other) throw refuse(`cannot be used, because the segment “${name}” then ${other}`)
  }
}

/** Returns a segment and all segments whose filter names it, directly or through others. */
export async function findSegmentAndUsers(
  db: Reader,
  organizationId: OrganizationId,
  id: SegmentId,
): Promise<SegmentId[]> {
  const found = new Set([id])
  let added = [id]
  for (let level = 0; added.length > 0 && level < nestedSegmentsMax; level++) {
    const users = await selectUsers(db, organizationId, added)
    added = users.filter((user) => !found.has(user))
    for (const user of added) found.add(user)
  }
  return [...found]
}
