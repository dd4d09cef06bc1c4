import type { Db, Reader, Tx } from '../db/db.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import { contextAsText } from '../messages/draft.ts'
import { countResolved, type ResolvedFilter, resolveFilter } from '../segments/nested-segments.ts'
import { checkFilter } from '../segments/parse-filter.ts'
import { checkUnused, getSegment, type Segment } from '../segments/segments.ts'
import { invalid, notFound, Refusal } from '../values/errors.ts'
import {
  type BroadcastId,
  type GroupId,
  newId,
  type OrganizationId,
  parseId,
  toText,
  type UserId,
} from '../values/ids.ts'
import { checkName, nameMax } from '../values/names.ts'
import { type AudienceQuery, isEmpty, type ResolvedAudience, selectExistingGroups } from './audience.sql.ts'
import {
  type Audience,
  type Broadcast,
  type BroadcastContent,
  countBroadcasts,
  deleteBroadcast,
  findBroadcast,
  insertBroadcast,
  lockBroadcast,
  selectNames,
  updateContent,
} from './broadcasts.sql.ts'
import { type FlowOfBroadcast, findFlowOf } from './flow-of-broadcast.sql.ts'
import { checkSchedule } from './schedule.ts'
import { checkKind, kindOf } from './service-announcements.ts'
import { checkSubject, checkVariants } from './variants.ts'

export type { Broadcast, BroadcastContent, Variant } from './broadcasts.sql.ts'

const draftsMax = 1_000
/** Of all segments together. Each condition is evaluated for every contact of the organization. */
const audienceConditionsMax = 200

/** The runner compiles the subjects of variants. */
export type DraftParts = { db: Db; runner: TemplateRunner }

export async function createBroadcast(
  { db, runner }: DraftParts,
  organizationId: OrganizationId,
  userId: UserId | null,
  content: BroadcastContent,
): Promise<Broadcast> {
  const checked = await checkContent({ db, runner }, organizationId, content)
  if ((await countBroadcasts(db, organizationId)) >= draftsMax)
    throw new Refusal('conflict', `An organization can have at most ${draftsMax} drafts. Delete one first.`)
  const id = newId('brc')
  await insertBroadcast(db.statement, { organizationId, id, createdBy: userId, ...checked })
  return getBroadcast(db, organizationId, id)
}

export async function getBroadcast(db: Reader, organizationId: OrganizationId, id: BroadcastId): Promise<Broadcast> {
  const broadcast = await findBroadcast(db, organizationId, id)
  if (!broadcast) throw notFound('broadcast')
  return broadcast
}

/** Throws `Refusal` if the broadcast does not exist. Locks it until the end of the transaction. */
export async function getLocked(tx: Tx, organizationId: OrganizationId, id: BroadcastId): Promise<Broadcast> {
  const broadcast = await lockBroadcast(tx, organizationId, id)
  if (!broadcast) throw notFound('broadcast')
  return broadcast
}

/** Changes a draft. Throws `Refusal` if it is no longer a draft. */
export async function changeBroadcast(
  { db, runner }: DraftParts,
  organizationId: OrganizationId,
  id: BroadcastId,
  changes: Partial<BroadcastContent>,
): Promise<Broadcast> {
  return db.begin(async (tx) => {
    const current = await getLocked(tx, organizationId, id)
    if (current.status !== 'draft') throw notIn(current, 'Only drafts can be changed. Duplicate it instead.')
    const content = await checkContent({ db: tx, runner }, organizationId, { ...current, ...changes })
    await updateContent(tx, organizationId, id, content)
    return getBroadcast(tx, organizationId, id)
  })
}

/** Deletes a broadcast that was never started. Throws `Refusal` if a segment names it. */
export async function removeBroadcast(db: Db, organizationId: OrganizationId, id: BroadcastId): Promise<void> {
  await db.begin(async (tx) => {
    const current = await getLocked(tx, organizationId, id)
    const isUnsent = current.recipients === null && ['draft', 'cancelled', 'expired'].includes(current.status)
    if (!isUnsent) throw notIn(current, 'Only broadcasts that were never started can be deleted.')
    await checkUnused(tx, organizationId, 'broadcast', toText('brc', id))
    await deleteBroadcast(tx, organizationId, id)
  })
}

export async function duplicateBroadcast(
  parts: DraftParts,
  organizationId: OrganizationId,
  userId: UserId | null,
  id: BroadcastId,
): Promise<Broadcast> {
  const original = await getBroadcast(parts.db, organizationId, id)
  return createBroadcast(parts, organizationId, userId, {
    ...original,
    name: await copyName(parts.db, organizationId, original.name),
    audience: await withoutDeleted(parts.db, organizationId, original.audience),
  })
}

/** Returns “Copy of X”, or “Copy of X (2)” and so on, also for a copy of a copy. */
async function copyName(db: Reader, organizationId: OrganizationId, name: string): Promise<string> {
  const original = name.replace(/^Copy of /, '').replace(/ \(\d+\)$/, '')
  return freeName(db, organizationId, `Copy of ${original}`)
}

/** Returns the name, with a number if other broadcasts have it. */
export async function freeName(db: Reader, organizationId: OrganizationId, name: string): Promise<string> {
  const base = name.slice(0, nameMax - ' (1000)'.length)
  const taken = new Set(await selectNames(db, organizationId, base))
  let copy = base
  for (let number = 2; taken.has(copy); number++) copy = `${base} (${number})`
  return copy
}

export const notIn = ({ status }: Pick<Broadcast, 'status'>, advice: string) =>
  new Refusal('conflict', `This broadcast is ${status}. ${advice}`)

async function checkContent(
  { db, runner }: { db: Reader; runner: TemplateRunner },
  organizationId: OrganizationId,
  content: BroadcastContent,
): Promise<BroadcastContent> {
  contextAsText(content.context)
  if (content.flowId !== null) {
    const flow = await findFlowOf(db, organizationId, content.flowId)
    if (!flow) throw invalid({ path: 'flow_id', problem: 'does not exist' })
    checkKind(content, flow)
  }
  await resolveAudience(db, organizationId, content.audience)
  await checkVariants({ db, runner }, organizationId, content)
  if (content.subject !== null) await checkSubject(runner, organizationId, 'subject', content.subject)
  const { flowId, audience, context, subject, serviceAnnouncement, messagesPerHour, missedAfterSeconds } = content
  const { variants, testPercent, winnerBy, decideAfterSeconds } = content
  const name = checkName(content.name)
  const schedule = checkSchedule(content.schedule)
  const test = { variants, testPercent, winnerBy, decideAfterSeconds }
  return {
    name,
    flowId,
    audience,
    context,
    subject,
    serviceAnnouncement,
    schedule,
    messagesPerHour,
    missedAfterSeconds,
    ...test,
  }
}

/** Throws `Refusal` if a group or segment does not exist, or if the segments have too many conditions. */
async function resolveAudience(
  db: Reader,
  organizationId: OrganizationId,
  audience: Audience,
): Promise<ResolvedAudience> {
  const included = {
    groupIds: await existingGroups(db, organizationId, audience, 'group_ids'),
    filters: [
      ...(await existingSegments(db, organizationId, audience, 'segment_ids')),
      ...(await notOpenedFilter(db, organizationId, audience)),
    ],
  }
  const excluded = {
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

/** The filter is evaluated at the start, so that contacts who open the email until then are left out. */
async function notOpenedFilter(
  db: Reader,
  organizationId: OrganizationId,
  { not_opened_broadcast_id: text, group_ids, segment_ids }: Audience,
): Promise<ResolvedFilter[]> {
  if (!text) return []
  const path = 'audience.not_opened_broadcast_id'
  if (group_ids.length + segment_ids.length > 0)
    throw invalid({ path, problem: 'cannot be combined with groups and segments' })
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
    not_opened_broadcast_id: audience.not_opened_broadcast_id ?? null,
  }
}

export type ReadyBroadcast = { flow: FlowOfBroadcast; audience: AudienceQuery }

/** Throws `Refusal` if the broadcast cannot be sent as it is. */
export async function readyToSend(db: Reader, broadcast: Broadcast): Promise<ReadyBroadcast> {
  const { organizationId, flowId } = broadcast
  if (flowId === null) throw invalid({ path: 'flow_id', problem: 'is required. Choose the flow to send' })
  const flow = await findFlowOf(db, organizationId, flowId)
  if (!flow) throw invalid({ path: 'flow_id', problem: 'does not exist' })
  if (flow.status !== 'active')
    throw new Refusal('flow_not_active', `This flow is ${flow.status}. Activate it to send through it.`)
  checkKind(broadcast, flow)
  const audience = await resolveAudience(db, organizationId, broadcast.audience)
  if (isEmpty(audience.included))
    throw invalid({ path: 'audience', problem: 'must name at least one group or segment' })
  return { flow, audience: { organizationId, audience, flowKind: kindOf(broadcast), now: broadcast.now } }
}
