import { checkUnused } from '../audience/audience.ts'
import type { TemplateRunner } from '../content/content.ts'
import type { Senders } from '../delivery/delivery.ts'
import type { Db, Reader, Tx } from '../platform/db/db.ts'
import type { Actor } from '../platform/values/actor.ts'
import { invalid, notFound, Refusal } from '../platform/values/errors.ts'
import { type BroadcastId, newId, type OrganizationId, toText } from '../platform/values/ids.ts'
import { checkName, nameMax } from '../platform/values/names.ts'
import { contextAsText } from '../sending/sending.ts'
import type { AudienceQuery } from './audience/audience.sql.ts'
import { queryAudience, resolveAudience, withoutDeleted } from './audience/resolve-audience.ts'
import {
  type Broadcast,
  type BroadcastContent,
  countBroadcasts,
  deleteBroadcast,
  findBroadcast,
  insertBroadcast,
  lockBroadcast,
  selectNames,
} from './broadcasts.sql.ts'
import { type FlowOfBroadcast, findFlowOf, selectSenders } from './results/flow-of-broadcast.sql.ts'
import { checkSchedule } from './schedule.ts'
import { checkKind, kindOf } from './sending/service-announcements.ts'
import { notIn } from './status.ts'
import { checkSubjects, checkVariants } from './variants.ts'

export type { Broadcast, BroadcastContent, Variant } from './broadcasts.sql.ts'

const draftsMax = 1_000

/** The runner compiles the subjects. */
export type DraftParts = { db: Db; runner: TemplateRunner }

export async function createBroadcast(
  { db, runner }: DraftParts,
  organizationId: OrganizationId,
  actor: Actor,
  content: BroadcastContent,
): Promise<Broadcast> {
  await checkSubjects(runner, organizationId, content)
  const checked = await checkContent(db, organizationId, content)
  if ((await countBroadcasts(db, organizationId)) >= draftsMax)
    throw new Refusal('conflict', `An organization can have at most ${draftsMax} drafts. Delete one first.`)
  const id = newId('brc')
  await db.by(actor).begin((tx) => insertBroadcast(tx, { organizationId, id, ...checked }))
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
  actor: Actor,
  id: BroadcastId,
): Promise<Broadcast> {
  const original = await getBroadcast(parts.db, organizationId, id)
  return createBroadcast(parts, organizationId, actor, {
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

/** Throws `Refusal` if the content is invalid. Drafts may be incomplete. `checkSubjects` checks the subjects. */
export async function checkContent(
  db: Reader,
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
  await checkVariants(db, organizationId, content)
  const { flowId, audience, context, subject, utm, serviceAnnouncement, messagesPerHour, missedAfterSeconds } = content
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
    utm,
    serviceAnnouncement,
    schedule,
    messagesPerHour,
    missedAfterSeconds,
    ...test,
  }
}

export type ReadyBroadcast = { flow: FlowOfBroadcast; audience: AudienceQuery }

/** Throws `Refusal` if the broadcast cannot be sent as it is. */
export async function readyToSend(db: Reader, broadcast: Broadcast): Promise<ReadyBroadcast> {
  const { organizationId, flowId } = broadcast
  if (flowId === null) throw invalid({ path: 'flow_id', problem: 'is required. Choose the flow to send' })
  const flow = await findFlowOf(db, organizationId, flowId)
  if (!flow) throw invalid({ path: 'flow_id', problem: 'does not exist' })
  checkActive(flow)
  checkKind(broadcast, flow)
  const options = { flowKind: kindOf(broadcast), now: broadcast.now }
  return { flow, audience: await queryAudience(db, organizationId, broadcast.audience, options) }
}

/**
 * Throws `Refusal` if the organization may not send new email from an address of the broadcast, for example because it has lost
 * the domain since the flow was saved.
 */
export async function checkSenders(senders: Pick<Senders, 'check'>, db: Reader, broadcast: Broadcast): Promise<void> {
  const { organizationId, flowId, flowVersionId, variants } = broadcast
  const flow = flowId && (await findFlowOf(db, organizationId, flowId))
  if (!flow) return
  const numbers = variants.flatMap(({ flow_version: number }) => number ?? [])
  const versions = { versionId: flowVersionId ?? flow.versionId, numbers }
  for (const { fromEmail: address } of await selectSenders(db, { organizationId, flowId }, versions))
    await senders.check({ organizationId, address }, db)
}

/** Throws `Refusal` if a broadcast whose recipients are frozen cannot be sent again. Its audience no longer matters. */
export async function checkFlow(db: Reader, { organizationId, flowId }: Broadcast): Promise<void> {
  const flow = flowId && (await findFlowOf(db, organizationId, flowId))
  if (!flow) throw new Refusal('conflict', 'The flow of this broadcast was deleted, so nothing can be sent through it.')
  checkActive(flow)
}

function checkActive({ status }: FlowOfBroadcast): void {
  if (status === 'active') return
  throw new Refusal('flow_not_active', `This flow is ${status}. Activate it to send through it.`)
}
