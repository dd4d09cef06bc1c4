import { type Db, isUniqueViolation, type Reader } from '../db/db.ts'
import type { CheckUnchanged } from '../http/etag.ts'
import { conflict, existing, type FieldProblem, invalid, notFound } from '../values/errors.ts'
import { type GroupId, newId, type OrganizationId, type SegmentId, toText } from '../values/ids.ts'
import { checkName } from '../values/names.ts'
import { type CheckedFilter, referencesOf } from './parse-filter.ts'
import {
  countSegments,
  deleteSegment,
  insertSegment,
  lockSegment,
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

/** Throws `Refusal` if the name is taken, or the filter names a group or flow that does not exist. */
export async function createSegment(
  db: Db,
  organizationId: OrganizationId,
  input: { name: string; filter: CheckedFilter },
): Promise<Segment> {
  const name = checkName(input.name)
  await checkReferences(db, organizationId, input.filter)
  if ((await countSegments(db, organizationId)) >= segmentsMax)
    throw conflict(`An organization can have at most ${segmentsMax} segments. Delete one that is no longer used.`)
  const segment = await insertSegment(db.statement, organizationId, { id: newId('seg'), name, filter: input.filter })
  if (!segment) throw nameTaken()
  return segment
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
  if (change.filter) await checkReferences(db, organizationId, change.filter)
  return db.begin(async (tx) => {
    const segment = await existing('segment', lockSegment(tx, organizationId, id))
    change.checkUnchanged?.(segment)
    const edited = await updateSegment(tx, organizationId, id, { name, filter: change.filter }).catch((error) => {
      throw isUniqueViolation(error) ? nameTaken() : error
    })
    if (!edited) throw nameTaken()
    return edited
  })
}

export async function removeSegment(db: Db, organizationId: OrganizationId, id: SegmentId): Promise<void> {
  if (!(await deleteSegment(db.statement, organizationId, id))) throw notFound('segment')
}

/** Throws `Refusal` if the filter of a segment names the group. */
export async function checkGroupUnused(db: Reader, organizationId: OrganizationId, groupId: GroupId): Promise<void> {
  const names = await selectNamesContaining(db, organizationId, toText('grp', groupId), namedMax)
  if (names.length === 0) return
  const list = names.map((name) => `“${name}”`).join(', ')
  throw conflict(`The group is used by segments: ${list}. Change or delete them first.`)
}

async function checkReferences(db: Reader, organizationId: OrganizationId, filter: CheckedFilter): Promise<void> {
  const references = referencesOf(filter)
  if (references.length === 0) return
  const existing = await selectExisting(db, organizationId, {
    groupIds: references.flatMap(({ groupId }) => groupId ?? []),
    flowIds: references.flatMap(({ flowId }) => flowId ?? []),
  })
  const [first, ...rest] = references.flatMap(({ path, groupId, flowId }): FieldProblem[] =>
    existing.has((groupId ?? flowId)!) ? [] : [{ path, problem: `${groupId ? 'group' : 'flow'} not found` }],
  )
  if (first) throw invalid(first, ...rest)
}

const nameTaken = () => conflict('A segment with this name already exists.')
