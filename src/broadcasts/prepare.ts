import type { Db, Tx } from '../db/db.ts'
import { type Claim, enqueue, settleJobs } from '../queue/queue.ts'
import { Refusal } from '../values/errors.ts'
import { type BroadcastId, type ContactId, newId } from '../values/ids.ts'
import { isTimeZone } from '../values/time-zone.ts'
import { enqueueStep } from './actions.ts'
import { announceBroadcast } from './announce.ts'
import {
  type AudienceOf,
  countContacts,
  insertRecipients,
  type Split,
  selectZones,
  type ZoneRule,
} from './audience.sql.ts'
import { type Broadcast, lockBroadcast, updateStatus } from './broadcasts.sql.ts'
import { readyToSend } from './broadcasts.ts'
import { broadcastKind, type PartPayload, partLane } from './lanes.ts'
import {
  markFrozen,
  markSending,
  type NewPart,
  type PartRecipients,
  replaceParts,
  selectLedgerZones,
  selectRangeEnds,
} from './ledger.sql.ts'
import { localStart } from './schedule.ts'
import { isTesting } from './variants.ts'

/** Freezing a million recipients takes less than half a minute. */
const freezeTimeoutMs = 600_000
/** Several processes can share a broadcast of this size. */
const partsFrom = 1_000
const partsMax = 4
const zonesMax = 1_000
const firstId = '00000000-0000-0000-0000-000000000000' as ContactId
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as ContactId

export type Report = (tx: Tx, broadcast: Broadcast) => Promise<void>

export type PrepareParts = {
  db: Db
  /** Informs the owners that the broadcast was not sent. */
  onExpired: Report
}

/**
 * Freezes the recipients of a broadcast, divides them into parts and enqueues a job for each, in one transaction. Does
 * nothing if the broadcast was cancelled or has started before.
 */
export async function prepareBroadcast(parts: PrepareParts, claim: Claim, id: BroadcastId): Promise<void> {
  const { organizationId } = claim
  await parts.db.begin(
    async (tx) => {
      const broadcast = await lockBroadcast(tx, organizationId, id)
      await settleJobs(tx, [{ claim, retryInMs: null }])
      if (broadcast?.status !== 'scheduled' && broadcast?.status !== 'preparing') return
      const lateMs = +broadcast.now - +(broadcast.startsAt ?? broadcast.now)
      if (lateMs > broadcast.missedAfterSeconds * 1000)
        return expire(parts, tx, broadcast, 'missed', 'It could not start in time, so it was not sent.')
      try {
        if (broadcast.recipients === null) await freeze(tx, broadcast)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return expire(parts, tx, broadcast, 'not_ready', error.message)
      }
      await createParts(tx, (await lockBroadcast(tx, organizationId, id))!, isTesting(broadcast) ? 'sample' : 'all')
      await markSending(tx, broadcast)
      await announceBroadcast(tx, broadcast, 'broadcastStarted')
    },
    { statementTimeoutMs: freezeTimeoutMs },
  )
}

async function expire(parts: PrepareParts, tx: Tx, broadcast: Broadcast, reason: string, detail: string) {
  await updateStatus(tx, broadcast, { status: 'expired', reason, detail })
  await parts.onExpired(tx, { ...broadcast, reason, detail })
  await announceBroadcast(tx, broadcast, 'broadcastFinished')
}

async function freeze(tx: Tx, broadcast: Broadcast): Promise<void> {
  const { flow, of } = await readyToSend(tx, broadcast)
  const recipients = await insertRecipients(tx, broadcast.id, of, await zoneRule(tx, broadcast, of), splitOf(broadcast))
  const excluded = (await countContacts(tx, of)) - recipients
  await markFrozen(tx, broadcast, { recipients, excluded: Math.max(0, excluded) })
  await updateStatus(tx, broadcast, { status: 'preparing', flowVersionId: broadcast.flowVersionId ?? flow.versionId })
}

async function zoneRule(tx: Tx, { schedule }: Broadcast, of: AudienceOf): Promise<ZoneRule | undefined> {
  if (!schedule.per_recipient) return undefined
  const attribute = schedule.time_zone_attribute
  const found = await selectZones(tx, of, attribute, zonesMax)
  return { attribute, zones: found.filter(isTimeZone), fallback: schedule.time_zone }
}

/** Each variant ends where the shares of those up to it add up to. */
function splitOf({ variants, testPercent }: Broadcast): Split | undefined {
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
  const bounds = [firstId, ...ends, lastId]
  return bounds.slice(1).map((toContact, part) => ({ part, zone: null, afterContact: bounds[part]!, toContact }))
}

async function zoneParts(tx: Tx, broadcast: Broadcast): Promise<NewPart[]> {
  const zones = await selectLedgerZones(tx, broadcast)
  return zones.map((zone, part) => ({ part, zone, afterContact: firstId, toContact: lastId }))
}
