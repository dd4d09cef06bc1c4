import type { Senders } from '../delivery/delivery.ts'
import type { BoundedWork } from '../platform/db/bounded-work.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import { firstContactId, type IdRange, lastContactId } from '../platform/db/id-range.ts'
import { runSlices, type SlicesEnd, stopped } from '../platform/db/slices.ts'
import { type Claim, enqueue } from '../platform/queue/queue.ts'
import { endJobs, settleJobs } from '../platform/queue/settle-jobs.ts'
import { Pacer } from '../platform/runtime/pacer.ts'
import { Refusal } from '../platform/values/errors.ts'
import { type BroadcastId, type ContactId, newId } from '../platform/values/ids.ts'
import { isTimeZone } from '../platform/values/time-zone.ts'
import { announceBroadcast } from './announce.ts'
import {
  countContacts,
  findSliceEnd,
  insertRecipients,
  type Split,
  selectZones,
  sliceAfter,
  type ZoneRule,
} from './audience/audience.sql.ts'
import { type Broadcast, type Freezing, findBroadcast, lockBroadcast, updateStatus } from './broadcasts.sql.ts'
import { broadcastKind, type PartPayload, partLane } from './ledger/lanes.ts'
import {
  deleteRecipients,
  endFreezing,
  markFrozen,
  markSending,
  type NewPart,
  type PartRecipients,
  replaceParts,
  selectLedgerZones,
  selectRangeEnds,
  updateFreezing,
} from './ledger/ledger.sql.ts'
import { forLedger } from './ledger/ledger-slices.ts'
import { checkFlow, checkSenders, type ReadyBroadcast, readyToSend } from './lifecycle.ts'
import { findFlowOf } from './results/flow-of-broadcast.sql.ts'
import { localStart, sameTimeZone } from './schedule.ts'
import { endRetry, isRetry, resetAllFailed } from './sending/retry.ts'
import { enqueueStep } from './status.ts'
import { isTesting } from './variants.ts'

/** Several processes can share a broadcast of this size. */
const partsFrom = 1_000
const partsMax = 4
/** Values of the attribute that are considered in one slice. */
const zonesMax = 1_000

type Report = (tx: Tx, broadcast: Broadcast) => Promise<void>

export type PrepareParts = {
  db: Db
  senders: Pick<Senders, 'check'>
  /** Informs the owners that the broadcast was not sent. */
  onExpired: Report
  work: BoundedWork
  isStopping: () => boolean
}

/**
 * Freezes the recipients of a broadcast, divides them into parts and enqueues a job for each. The recipients are frozen in slices
 * that are committed one by one; no lock is held while one is selected, so that the broadcast can be cancelled at any time.
 */
export async function prepareBroadcast(parts: PrepareParts, claim: Claim, id: BroadcastId): Promise<void> {
  const { db } = parts
  const key = { organizationId: claim.organizationId, id }
  const end = (retryInMs: number | null) => endJobs(db, [{ claim, retryInMs }])
  const found = await findBroadcast(db, key.organizationId, id)
  const broadcast = found?.status === 'scheduled' ? await beginScheduled(db, claim, key) : found
  if (broadcast?.status === 'scheduled') return
  if (broadcast?.status !== 'preparing') {
    const isDiscarded = !broadcast || broadcast.freezing ? await discard(parts, key) : true
    return end(isDiscarded ? null : 0)
  }
  const lateMs = +broadcast.now - +(broadcast.startsAt ?? broadcast.now)
  if (lateMs > broadcast.missedAfterSeconds * 1000) return abandon(parts, claim, broadcast, 'missed')
  try {
    const frozen = await (isRetry(broadcast) ? resetAllFailed(parts, broadcast) : freeze(parts, broadcast))
    if (frozen === 'too_expensive') return abandon(parts, claim, broadcast, frozen)
    if (frozen === 'stopped' || !(await startSending(parts, claim, broadcast))) return end(0)
  } catch (error) {
    if (!(error instanceof Refusal) || error.type === 'unavailable') throw error
    return abandon(parts, claim, broadcast, error)
  }
}

/**
 * Begins a scheduled broadcast if its time has come. From then on it cannot be changed or moved, so everything that follows
 * is about the same content; the version of its flow is pinned. Otherwise it was moved to a later time, and the step is
 * postponed to that under the same lock: after it, that would undo another move, which makes the step due.
 */
const beginScheduled = (db: Db, claim: Claim, { organizationId, id }: Key): Promise<Broadcast | undefined> =>
  db.begin(async (tx) => {
    const current = await lockBroadcast(tx, organizationId, id)
    if (current?.status !== 'scheduled') return current
    const waitMs = +current.startsAt! - +current.now
    if (waitMs > 0) {
      await settleJobs(tx, [{ claim, retryInMs: waitMs }])
      return current
    }
    const flow = current.flowId && (await findFlowOf(tx, organizationId, current.flowId))
    await updateStatus(tx, current, { status: 'preparing', ...(flow && { flowVersionId: flow.versionId }) })
    return findBroadcast(tx, organizationId, id)
  })

type Key = Pick<Broadcast, 'organizationId' | 'id'>

const details = {
  missed: 'It could not start in time, so it was not sent.',
  too_expensive:
    'Selecting its audience takes too long, so it was not sent. Use segments with fewer or simpler conditions.',
  failed: 'It could not be prepared because of an internal error, so it was not sent.',
}
const retryDetails: typeof details = {
  missed: 'Sending to the failed recipients could not start in time.',
  too_expensive: 'Selecting the failed recipients takes too long.',
  failed: 'Sending to the failed recipients could not be prepared because of an internal error.',
}

/** Ends a broadcast, or a retry of its failed recipients, that could not begin. */
export async function abandon(
  parts: PrepareParts,
  claim: Claim,
  broadcast: Broadcast,
  cause: keyof typeof details | Refusal,
): Promise<void> {
  const texts = isRetry(broadcast) ? retryDetails : details
  const why =
    cause instanceof Refusal ? { reason: 'not_ready', detail: cause.message } : { reason: cause, detail: texts[cause] }
  await (isRetry(broadcast) ? endRetry : expire)(parts, claim, broadcast, why)
}

/** Ends a broadcast that was not sent. The step runs again, to delete what was frozen. */
async function expire(parts: PrepareParts, claim: Claim, key: Key, why: { reason: string; detail: string }) {
  await parts.db.begin(async (tx) => {
    const current = await lockBroadcast(tx, key.organizationId, key.id)
    await settleJobs(tx, [{ claim, retryInMs: current?.freezing ? 0 : null }])
    if (current?.status !== 'scheduled' && current?.status !== 'preparing') return
    await updateStatus(tx, key, { status: 'expired', ...why })
    await parts.onExpired(tx, { ...current, ...why })
    await announceBroadcast(tx, key, 'broadcastFinished')
  })
}

/**
 * Deletes the ledger of a broadcast that was cancelled, expired or deleted before it was complete. Returns false if the
 * process is stopping.
 */
async function discard(parts: PrepareParts, key: Key): Promise<boolean> {
  const isDeleted = await forLedger(parts, key, (tx, range) => deleteRecipients(tx, key, range))
  if (isDeleted) await parts.db.begin((tx) => endFreezing(tx, key))
  return isDeleted
}

/** It is stopped if the process is stopping, the broadcast was cancelled, or another worker continues. */
async function freeze(parts: PrepareParts, broadcast: Broadcast): Promise<SlicesEnd> {
  const ready = await readyToSend(parts.db, broadcast)
  await checkSenders(parts.senders, parts.db, broadcast)
  let freezing = broadcast.freezing ?? { to: firstContactId, contacts: 0, recipients: 0, zones: {} }
  if (freezing.to === lastContactId) return 'complete'
  const run = (after: ContactId, size: number) =>
    parts.work(broadcast.organizationId, async (tx) => {
      const end = await findSliceEnd(tx, ready.audience, after, size)
      const frozen = await freezeSlice(tx, broadcast, ready, sliceAfter(after, end), freezing)
      if (!frozen) return tx.rollback(stopped)
      freezing = frozen
      return end
    })
  return runSlices({ from: freezing.to, run, isOver: parts.isStopping })
}

/** Writes the recipients of a range. The broadcast is locked only at the end. Returns undefined if it must be rolled back. */
async function freezeSlice(
  tx: Tx,
  broadcast: Broadcast,
  { audience }: ReadyBroadcast,
  range: IdRange,
  before: Freezing,
): Promise<Freezing | undefined> {
  const { zones, rule } = await zoneRule(tx, broadcast, range, before.zones)
  const options = { zones: rule, split: splitOf(broadcast), before: before.recipients }
  const recipients = await insertRecipients(tx, broadcast.id, audience, range, options)
  const contacts = Math.max(recipients, await countContacts(tx, audience, range))
  const current = await lockBroadcast(tx, broadcast.organizationId, broadcast.id)
  const isOpen = current?.status === 'preparing'
  if (!isOpen || (current.freezing?.to ?? firstContactId) !== before.to) return undefined
  const after = {
    to: range.to,
    contacts: before.contacts + contacts,
    recipients: before.recipients + recipients,
    zones,
  }
  await updateFreezing(tx, broadcast, after)
  return after
}

/** Zones in which the planned time comes at the same time form one part. */
async function zoneRule(
  tx: Tx,
  { organizationId, schedule }: Broadcast,
  range: IdRange,
  known: Freezing['zones'],
): Promise<{ zones: Freezing['zones']; rule: ZoneRule | undefined }> {
  if (!schedule.per_recipient) return { zones: known, rule: undefined }
  const attribute = schedule.time_zone_attribute
  const zones = { ...known }
  const groupOf = (zone: string) => sameTimeZone(zones, schedule.at!, zone)
  const found = await selectZones(tx, organizationId, attribute, range, zonesMax)
  const fallback = groupOf(schedule.time_zone)
  const grouped = new Map<string, string>()
  const pacer = new Pacer(organizationId)
  for (const zone of found) {
    if (pacer.isDue) await pacer.turn()
    if (isTimeZone(zone)) grouped.set(zone, groupOf(zone))
  }
  return { zones, rule: { attribute, zones: grouped, fallback } }
}

/** Creates the parts in one transaction. Returns false if the broadcast was cancelled or another worker continues. */
async function startSending(parts: PrepareParts, claim: Claim, { organizationId, id }: Broadcast): Promise<boolean> {
  return parts.work(organizationId, async (tx) => {
    const broadcast = await lockBroadcast(tx, organizationId, id)
    if (broadcast?.status !== 'preparing') return false
    await checkSenders(parts.senders, tx, broadcast)
    if (isRetry(broadcast)) await checkFlow(tx, broadcast)
    else {
      const { flow } = await readyToSend(tx, broadcast)
      if (broadcast.freezing) await markFrozen(tx, broadcast, broadcast.freezing)
      const flowVersionId = broadcast.flowVersionId ?? flow.versionId
      await updateStatus(tx, broadcast, { status: 'preparing', flowVersionId })
    }
    const current = (await lockBroadcast(tx, organizationId, id))!
    await createParts(tx, current, isTesting(current) ? 'sample' : 'all')
    await markSending(tx, current)
    await announceBroadcast(tx, current, 'broadcastStarted')
    const settled = await settleJobs(tx, [{ claim, retryInMs: null }])
    return settled.size > 0 || tx.rollback(false)
  })
}

/** Each variant ends where the shares of those up to it add up to. */
export function splitOf({ variants, testPercent }: Pick<Broadcast, 'variants' | 'testPercent'>): Split | undefined {
  if (variants.length === 0) return undefined
  let end = 0
  const ends = variants.map(({ share }) => {
    end += share
    return end
  })
  return { samplePercent: testPercent, ends }
}

export async function createParts(tx: Tx, broadcast: Broadcast, recipients: PartRecipients): Promise<void> {
  const { organizationId, id, schedule } = broadcast
  const created = schedule.per_recipient ? await zoneParts(tx, broadcast) : await rangeParts(tx, broadcast)
  await replaceParts(tx, broadcast, created, recipients)
  enqueue(
    tx,
    created.map(({ part, zone }) => {
      const payload: PartPayload = { broadcastId: id, part }
      // The rest gets it at the same local time of a later day.
      const notBefore = recipients === 'rest' ? broadcast.now : undefined
      const startsAt = zone === null ? broadcast.now : localStart(schedule.at!, zone, notBefore)
      const delayMs = Math.max(0, +startsAt - +broadcast.now)
      return { organizationId, kind: broadcastKind, lane: partLane(id, part), id: newId('brc'), delayMs, payload }
    }),
  )
  if (created.length === 0) enqueueStep(tx, broadcast, 'finish', 0)
}

async function rangeParts(tx: Tx, broadcast: Broadcast): Promise<NewPart[]> {
  const recipients = broadcast.recipients ?? 0
  const ends = await selectRangeEnds(tx, broadcast, recipients, recipients < partsFrom ? 1 : partsMax)
  const bounds = [firstContactId, ...ends, lastContactId]
  return bounds.slice(1).map((toContact, part) => ({ part, zone: null, afterContact: bounds[part]!, toContact }))
}

async function zoneParts(tx: Tx, broadcast: Broadcast): Promise<NewPart[]> {
  const zones = await selectLedgerZones(tx, broadcast)
  return zones.map((zone, part) => ({ part, zone, afterContact: firstContactId, toContact: lastContactId }))
}
