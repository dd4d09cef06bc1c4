import { type Db, isUniqueViolation, type Reader } from '../../platform/db/db.ts'
import type { CheckUnchanged } from '../../platform/http/etag.ts'
import { conflict, existing, type FieldProblem, invalid } from '../../platform/values/errors.ts'
import { newId, type OrganizationId, type SegmentId, toText } from '../../platform/values/ids.ts'
import { checkName } from '../../platform/values/names.ts'
import { checkNesting } from './nested-segments.ts'
import { type CheckedFilter, referencesOf, segmentIdsIn } from './parse-filter.ts'
import {
  countSegments,
  deleteSegment,
  insertSegment,
  lockSegment,
  lockSegments,
  type Segment,
  selectExisting,
  selectNamesContaining,
  selectSegment,
  updateSegment,
} from './segments.sql.ts'

export type { Segment } from './segments.sql.ts'

const segmentsMax = 500
const namedMax = 3

export const getSegment = (db: Reader, organizationId: OrganizationId, id: SegmentId) =>
  existing('segment', selectSegment(db, organizationId, id))

/**
 * Throws `Refusal` if the name is taken, or the filter names a record that does not exist, or segments that are nested too
 * deep.
 */
export async function createSegment(
  db: Db,
  organizationId: OrganizationId,
  input: { name: string; filter: CheckedFilter },
): Promise<Segment> {
  const name = checkName(input.name)
  const { filter } = input
  if ((await countSegments(db, organizationId)) >= segmentsMax)
    throw conflict(`An organization can have at most ${segmentsMax} segments. Delete one that is no longer used.`)
  const id = newId('seg')
  return db.begin(async (tx) => {
    if (segmentIdsIn(filter).length > 0) checkNesting({ id, filter }, await lockSegments(tx, organizationId))
    await checkReferences(tx, organizationId, filter)
    const segment = await insertSegment(tx, organizationId, { id, name, filter })
    if (!segment) throw nameTaken()
    return segment
  })
}

export async function editSegment(
  db: Db,
  organizationId: OrganizationId,
  id: SegmentId,
  change: {
    name: string | undefined
    filter: CheckedFilter | undefined
    checkUnchanged: CheckUnchanged<Segment> | undefined
  },
): Promise<Segment> {
  const name = change.name === undefined ? undefined : checkName(change.name)
  const { filter } = change
  return db.begin(async (tx) => {
    const all = filter && (await lockSegments(tx, organizationId))
    const segment = await existing('segment', lockSegment(tx, organizationId, id))
    change.checkUnchanged?.(segment)
    if (filter && all) {
      checkNesting({ id, filter }, all)
      await checkReferences(tx, organizationId, filter)
    }
    const edited = await updateSegment(tx, organizationId, id, { name, filter }).catch((error) => {
      throw isUniqueViolation(error) ? nameTaken() : error
    })
    if (!edited) throw nameTaken()
    return edited
  })
}

/** Throws `Refusal` if another segment names it. */
export async function removeSegment(db: Db, organizationId: OrganizationId, id: SegmentId): Promise<void> {
  await db.begin(async (tx) => {
    await existing('segment', lockSegment(tx, organizationId, id))
    await checkUnused(tx, organizationId, 'segment', toText('seg', id))
    await deleteSegment(tx, organizationId, id)
  })
}

/** Throws `Refusal` if the filter of a segment names the record. */
export async function checkUnused(
  db: Reader,
  organizationId: OrganizationId,
  kind: 'group' | 'broadcast' | 'segment',
  id: string,
): Promise<void> {
  const names = await selectNamesContaining(db, organizationId, id, namedMax)
  if (names.length === 0) return
  const list = names.map((name) => `“${name}”`).join(', ')
  throw conflict(`The ${kind} is used by segments: ${list}. Change or delete them first.`)
}

async function checkReferences(db: Reader, organizationId: OrganizationId, filter: CheckedFilter): Promise<void> {
  const references = referencesOf(filter)
  if (references.length === 0) return
  const existing = await selectExisting(db, organizationId, {
    groupIds: references.flatMap((each) => (each.kind === 'group' ? [each.id] : [])),
    flowIds: references.flatMap((each) => (each.kind === 'flow' ? [each.id] : [])),
    broadcastIds: references.flatMap((each) => (each.kind === 'broadcast' ? [each.id] : [])),
    segmentIds: references.flatMap((each) => (each.kind === 'segment' ? [each.id] : [])),
  })
  const [first, ...rest] = references.flatMap(({ path, kind, id }): FieldProblem[] =>
    existing.has(id) ? [] : [{ path, problem: `${kind} not found` }],
  )
  if (first) throw invalid(first, ...rest)
}

const nameTaken = () => conflict('A segment with this name already exists.')
