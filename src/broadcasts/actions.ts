import type { BoundedRead } from '../db/bounded-read.ts'
import type { Db, Tx } from '../db/db.ts'
import { enqueue } from '../queue/queue.ts'
import { invalid, Refusal } from '../values/errors.ts'
import { type BroadcastId, newId, type OrganizationId } from '../values/ids.ts'
import { announceBroadcast } from './announce.ts'
import type { AudienceCounts } from './audience.sql.ts'
import { type Broadcast, updateStatus } from './broadcasts.sql.ts'
import { getBroadcast, getLocked, notIn, readyToSend } from './broadcasts.ts'
import { countWholeAudience } from './count-audience.ts'
import { controlLane, holdLanes, releaseHeldLanes, type Step, type StepPayload, stepKind } from './lanes.ts'
import { beginRound } from './ledger.sql.ts'
import { checkPlannedTime, startOf } from './schedule.ts'
import { type Confirmation, checkAnnouncer, checkUnsubscribed } from './service-announcements.ts'
import { updateWinner } from './variants.sql.ts'
import { hasWinner, variantKeyOf, variantKeys } from './variants.ts'

export type ActionParts = { db: Db }
export type StartParts = ActionParts & { read: BoundedRead }
type Key = { organizationId: OrganizationId; id: BroadcastId }

/**
 * Starts a draft, or schedules it if it has a planned time. Throws `Refusal` if the number of recipients is not the
 * confirmed one.
 */
export async function startBroadcast(parts: StartParts, key: Key, confirmation: Confirmation): Promise<Broadcast> {
  const draft = await confirmDraft(parts, key, confirmation, 'Only drafts can be started.')
  return change(parts, key, async (tx, current) => {
    checkUnchanged(draft, current)
    if (current.schedule.at !== null) return plan(tx, current)
    const { flow } = await readyToSend(tx, current)
    await updateStatus(tx, key, { status: 'preparing', startsAt: current.now, flowVersionId: flow.versionId })
    enqueueStep(tx, key, 'prepare', 0)
  })
}

/** Schedules a draft for its planned time. */
export async function scheduleBroadcast(parts: StartParts, key: Key, confirmation: Confirmation): Promise<Broadcast> {
  const draft = await confirmDraft(parts, key, confirmation, 'Only drafts can be scheduled.')
  return change(parts, key, async (tx, current) => {
    checkUnchanged(draft, current)
    await plan(tx, current)
  })
}

async function plan(tx: Tx, current: Broadcast): Promise<void> {
  const startsAt = startOf(current.schedule)
  if (!startsAt) throw invalid({ path: 'schedule.at', problem: 'is required to schedule a broadcast' })
  checkPlannedTime(current.schedule, current.now)
  await updateStatus(tx, current, { status: 'scheduled', startsAt: later(startsAt, current.now) })
  enqueueStep(tx, current, 'prepare', Math.max(0, +startsAt - +current.now))
}

const later = (a: Date, b: Date) => (a > b ? a : b)

/**
 * Returns the draft if it can be sent to the expected number of recipients. They are counted before the transaction that starts
 * it, which would hold its connection and the lock of the broadcast for as long as that takes.
 */
async function confirmDraft(
  { db, read }: StartParts,
  { organizationId, id }: Key,
  confirmation: Confirmation,
  advice: string,
): Promise<Broadcast> {
  const draft = await getBroadcast(db, organizationId, id)
  if (draft.status !== 'draft') throw notIn(draft, advice)
  const { recipients: expected } = confirmation
  const { audience } = await readyToSend(db, draft)
  checkAnnouncer(draft, confirmation)
  const isEnough = ({ recipients }: AudienceCounts) =>
    expected === undefined && !draft.serviceAnnouncement && recipients > 0
  const counts = await countWholeAudience(read, audience, isEnough)
  checkUnsubscribed(draft, counts, confirmation)
  const { recipients } = counts
  if (recipients === 0) throw new Refusal('conflict', 'Nobody would receive this broadcast. Check its audience.')
  if (expected !== undefined && recipients !== expected)
    throw new Refusal(
      'conflict',
      `The broadcast has ${recipients.toLocaleString('en')} recipients now, not ${expected.toLocaleString('en')}. Check it again and confirm the new number.`,
    )
  return draft
}

function checkUnchanged(draft: Broadcast, current: Broadcast): void {
  if (current.status !== 'draft') throw notIn(current, 'Only drafts can be started.')
  if (+current.updatedAt !== +draft.updatedAt)
    throw new Refusal('conflict', 'This broadcast was changed while it was being started. Check it again.')
}

/** No email is started after this. Emails that are being transferred at this moment still arrive. */
export async function pauseBroadcast(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, (tx, current) => pause(tx, current, { reason: 'user', detail: null }))
}

/** Pauses a broadcast that is being sent. Throws `Refusal` in any other status. */
export async function pause(
  tx: Tx,
  current: Broadcast,
  { reason, detail }: { reason: string; detail: string | null },
): Promise<void> {
  if (current.status !== 'sending') throw notIn(current, 'Only a broadcast that is being sent can be paused.')
  await updateStatus(tx, current, { status: 'paused', reason, detail })
  await holdLanes(tx, current)
}

export async function resumeBroadcast(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, async (tx, current) => {
    if (current.status !== 'paused') throw notIn(current, 'Only a paused broadcast can be resumed.')
    await updateStatus(tx, key, { status: 'sending' })
    await releaseHeldLanes(tx, current)
  })
}

/** Cancels what has not been sent. Emails that are being transferred at this moment still arrive. */
export async function cancelBroadcast(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, async (tx, current) => {
    if (!['scheduled', 'preparing', 'sending', 'paused'].includes(current.status))
      throw notIn(current, 'It cannot be cancelled.')
    await updateStatus(tx, key, { status: 'cancelled' })
    await releaseHeldLanes(tx, current, { allDue: true })
    if (current.recipients !== null) enqueueStep(tx, key, 'finish', 0)
    else await announceBroadcast(tx, key, 'broadcastFinished')
  })
}

/** Chooses the variant for the recipients outside the sample. They get it when the sample is sent. */
export async function chooseVariant(parts: ActionParts, key: Key, variant: number): Promise<Broadcast> {
  return change(parts, key, async (tx, current) => {
    if (!hasWinner(current)) throw new Refusal('conflict', 'This broadcast has no variants to choose from.')
    if (current.winner !== null)
      throw new Refusal('conflict', `Variant ${variantKeyOf(current.winner)} has been chosen already.`)
    if (current.status !== 'sending' && current.status !== 'paused')
      throw notIn(current, 'A variant can be chosen while it is being sent.')
    if (variant >= current.variants.length)
      throw invalid({
        path: 'variant',
        problem: `must be one of ${variantKeys.slice(0, current.variants.length).join(', ')}`,
      })
    await updateWinner(tx, key, variant)
    enqueueStep(tx, key, 'decide', 0)
  })
}

/** Sends a finished broadcast to the recipients that failed. */
export async function retryFailed(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, async (tx, current) => {
    if (current.status !== 'sent') throw notIn(current, 'Failed recipients can be tried again when it has finished.')
    if (!current.counts.failed) throw new Refusal('conflict', 'No recipient of this broadcast failed.')
    await beginRound(tx, current)
    await updateStatus(tx, key, { status: 'preparing', startsAt: current.now })
    enqueueStep(tx, key, 'prepare', 0)
  })
}

/** Runs a change of a locked broadcast and returns the result. */
async function change(
  { db }: ActionParts,
  { organizationId, id }: Key,
  work: (tx: Tx, current: Broadcast) => Promise<void>,
): Promise<Broadcast> {
  return db.begin(async (tx) => {
    await work(tx, await getLocked(tx, organizationId, id))
    return getBroadcast(tx, organizationId, id)
  })
}

export function enqueueStep(tx: Tx, { organizationId, id }: Key, step: Step, delayMs: number): void {
  const payload: StepPayload = { broadcastId: id, step }
  enqueue(tx, [{ organizationId, kind: stepKind, lane: controlLane(id), id: newId('brc'), delayMs, payload }])
}
