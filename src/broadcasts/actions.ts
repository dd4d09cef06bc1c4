import type { Senders } from '../delivery/delivery.ts'
import type { BoundedRead } from '../platform/db/bounded-read.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import { invalid, Refusal } from '../platform/values/errors.ts'
import type { BroadcastId, OrganizationId } from '../platform/values/ids.ts'
import { announceBroadcast } from './announce.ts'
import type { AudienceCounts } from './audience/audience.sql.ts'
import { countWholeAudience } from './audience/count-audience.ts'
import { type Broadcast, updateContent, updateStatus } from './broadcasts.sql.ts'
import { releaseHeldLanes, wakeStep } from './ledger/lanes.ts'
import { beginRound } from './ledger/ledger.sql.ts'
import { checkFlow, checkSenders, getBroadcast, getLocked, readyToSend } from './lifecycle.ts'
import { checkPlannedTime, nowInsteadOf, plannedStart } from './schedule.ts'
import { type Confirmation, checkAnnouncer, checkUnsubscribed } from './sending/service-announcements.ts'
import { enqueueStep, notIn, pause } from './status.ts'
import { updateWinner } from './variants.sql.ts'
import { hasWinner, variantKeyOf, variantKeys } from './variants.ts'

export type ActionParts = { db: Db }
export type StartParts = ActionParts & { read: BoundedRead; senders: Pick<Senders, 'check'> }
type Key = { organizationId: OrganizationId; id: BroadcastId }

/**
 * Starts a draft, or schedules it if it has a planned time. Throws `Refusal` if the number of recipients is not the
 * confirmed one.
 */
export async function startBroadcast(parts: StartParts, key: Key, confirmation: Confirmation): Promise<Broadcast> {
  const draft = await confirm(parts, key, confirmation, onlyDrafts)
  return change(parts, key, async (tx, current) => {
    checkUnchanged(draft, current, onlyDrafts)
    if (current.schedule.at !== null) return plan(tx, current)
    await startNow(tx, current)
  })
}

/** Schedules a draft for its planned time. */
export async function scheduleBroadcast(parts: StartParts, key: Key, confirmation: Confirmation): Promise<Broadcast> {
  const draft = await confirm(parts, key, confirmation, onlyDrafts)
  return change(parts, key, async (tx, current) => {
    checkUnchanged(draft, current, onlyDrafts)
    await plan(tx, current)
  })
}

/**
 * Starts a scheduled broadcast now, for all recipients. Its sending hours and its rate still apply. The step that waits for
 * the planned time finds that it was started.
 */
export async function sendNow(parts: StartParts, key: Key, confirmation: Confirmation): Promise<Broadcast> {
  const scheduled = await confirm(parts, key, confirmation, onlyScheduled)
  return change(parts, key, async (tx, current) => {
    checkUnchanged(scheduled, current, onlyScheduled)
    await updateContent(tx, key.organizationId, key.id, { ...current, schedule: nowInsteadOf(current.schedule) })
    await startNow(tx, current)
  })
}

async function startNow(tx: Tx, current: Broadcast): Promise<void> {
  const { flow } = await readyToSend(tx, current)
  await updateStatus(tx, current, { status: 'preparing', startsAt: current.now, flowVersionId: flow.versionId })
  enqueueStep(tx, current, 'prepare', 0)
}

async function plan(tx: Tx, current: Broadcast): Promise<void> {
  const startsAt = plannedStart(current.schedule, current.now)
  if (!startsAt) throw invalid({ path: 'schedule.at', problem: 'is required to schedule a broadcast' })
  checkPlannedTime(current.schedule, current.now)
  await updateStatus(tx, current, { status: 'scheduled', startsAt })
  enqueueStep(tx, current, 'prepare', +startsAt - +current.now)
}

/** The status that an action needs, and what the error says otherwise. */
type Needed = { status: Broadcast['status']; advice: string }
const onlyDrafts: Needed = { status: 'draft', advice: 'Only drafts can be started.' }
const onlyScheduled: Needed = { status: 'scheduled', advice: 'Only a scheduled broadcast can be sent before its time.' }

/**
 * Returns the broadcast if it can be sent to the expected number of recipients. They are counted before the transaction that
 * starts it, which would hold its connection and the lock of the broadcast for as long as that takes.
 */
async function confirm(
  { db, read, senders }: StartParts,
  { organizationId, id }: Key,
  confirmation: Confirmation,
  { status, advice }: Needed,
): Promise<Broadcast> {
  const draft = await getBroadcast(db, organizationId, id)
  if (draft.status !== status) throw notIn(draft, advice)
  const { recipients: expected } = confirmation
  const { audience } = await readyToSend(db, draft)
  await checkSenders(senders, db, draft)
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

function checkUnchanged(confirmed: Broadcast, current: Broadcast, { status, advice }: Needed): void {
  if (current.status !== status) throw notIn(current, advice)
  if (+current.updatedAt !== +confirmed.updatedAt)
    throw new Refusal('conflict', 'This broadcast was changed while it was being started. Check it again.')
}

/** No email is started after this. Emails that are being transferred at this moment still arrive. */
export async function pauseBroadcast(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, (tx, current) => pause(tx, current, { reason: 'user', detail: null }))
}

export async function resumeBroadcast(parts: ActionParts, key: Key): Promise<Broadcast> {
  return change(parts, key, async (tx, current) => {
    if (current.status !== 'paused') throw notIn(current, 'Only a paused broadcast can be resumed.')
    await updateStatus(tx, key, { status: 'sending' })
    await releaseHeldLanes(tx, current)
    // A step that waits for the time of the decision keeps it.
    const { decidesAt, winner, now } = current
    if (decidesAt === null || winner !== null || decidesAt <= now) await wakeStep(tx, current)
  })
}

/**
 * Cancels what has not been sent. Emails that are being transferred at this moment still arrive. A broadcast that is sent again to
 * failed recipients is sent as soon as that has ended.
 */
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
    await checkFlow(tx, current)
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
