import type { LRUCache } from 'lru-cache'
import type { TemplateCache } from '../../content/content.ts'
import { mayRecordAgain } from '../../events/events.ts'
import { createBatcher, type DbBatcherOptions } from '../../platform/db/cluster/batches.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { isUnrecordable, persisting, retrying } from '../../platform/db/retrying.ts'
import type { Hints } from '../../platform/queue/hints.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, settleJobs } from '../../platform/queue/settle-jobs.ts'
import { EffectRecords, Unrecorded } from '../../platform/queue/unrecorded.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { BroadcastId, OrganizationId } from '../../platform/values/ids.ts'
import { windowAt } from '../../platform/values/weekly-window.ts'
import type { AttemptParts, BroadcastParts } from '../../sending/sending.ts'
import { type Broadcast, findBroadcast, lockBroadcast } from '../broadcasts.sql.ts'
import { broadcastKind, type PartPayload } from '../ledger/lanes.ts'
import { selectOpenParts } from '../ledger/ledger.sql.ts'
import { findPart, findStatus, markPartDone, type Part, selectCancelled } from '../ledger/parts.sql.ts'
import { type RecipientResult, type RetryResult, settleRecipients, settleRetries, statusOf } from '../ledger/settle.ts'
import { findFlowOf } from '../results/flow-of-broadcast.sql.ts'
import { loadVersions } from '../variants.ts'
import { afterLastPart } from './after-last-part.ts'
import { interrupted, type PauseParts, pauseAutomatically } from './automatic-pause.ts'
import { findBrakeReason } from './brake.ts'
import { giveUpPart } from './give-up-part.ts'
import { kindOf } from './service-announcements.ts'
import { Slots } from './slots.ts'
import { Turn, type TurnEnd } from './turn.ts'

export type BroadcastJobParts = AttemptParts &
  PauseParts & {
    /** Returns false while nothing may be sent. */
    isOpen: () => boolean
    failures: FailureLog
    hints: Hints
    templates: TemplateCache
    stageRegistry: StageRegistry
    inFlightMax: number
  }

/** Parts in progress at once in this process, overall and of one organization. They share the slots for emails. */
const partsMax = 64
const partsPerOrganizationMax = 8
/** After this time a part is released, so that others waiting for a worker get a turn. */
const turnMs = 3_000
/** How often a part looks for a pause, in case the hint was lost. */
const checkEveryMs = 500
const brakeEveryMs = 2_000
/** The brake looks earlier if this many emails bounced at once. */
const bouncesPerCheck = 10
/** How long the rest waits while the relay defers everything: as long as a deferred email, but not longer than this. */
const deferredMsMax = 30_000
const unavailableMs = 1_000
/**
 * Emails in flight, as a share of what the relay takes. Unlike those of the queue they leave it when the relay has
 * answered, before they are recorded, so a few for each connection keep it busy, and fewer live objects are less work
 * for the garbage collector.
 */
const inFlightShare = 0.2
/** Emails in flight of an organization with mail servers. */
const withServersMax = 50
const withServersKnownMax = 1_000
// With 500, the slowest send requests beside a broadcast take twice as long, and the rate is the same.
const settleBatchMax = 250
const settleWaitingMax = 20_000
const settlePaceMs = 60
const settleTries = 5

/** Sends the parts of broadcasts. */
export function broadcastJob(parts: BroadcastJobParts): WorkerSpec<PartPayload> {
  const options: DbBatcherOptions<RecipientResult, void> = {
    name: 'settle broadcasts',
    organizationOf: ({ organizationId }) => organizationId,
    itemsMax: settleBatchMax,
    waitingPerOrganization: settleWaitingMax / 2,
    waitingMax: settleWaitingMax,
    paceMs: settlePaceMs,
    run: async (batch) => {
      await record(parts, batch)
      return batch.map(() => ({ ok: true, value: undefined }))
    },
    splitOn: isUnrecordable,
  }
  const batcher = createBatcher(parts.db, parts.stageRegistry, options)
  const results = new EffectRecords<RecipientResult>((result) => batcher.add(result))
  const slots = new Slots(Math.ceil(parts.inFlightMax * inFlightShare))
  let isStopping = false
  const isOpen = () => !isStopping && parts.isOpen()
  const sender: Sender = {
    ...parts,
    isOpen,
    results,
    slots,
    slotsWithServers: createCache(withServersKnownMax),
    checks: new Map(),
  }
  parts.hints.on(broadcastKind, {
    changed: (lane) => {
      for (const check of sender.checks.get(lane as BroadcastId) ?? []) void check()
    },
  })
  return {
    kind: broadcastKind,
    inFlightMax: partsMax,
    perOrganizationMax: () => partsPerOrganizationMax,
    // A turn ends when its last email has an answer.
    slowPeers: { has: (organizationId) => parts.servers.hasServers(organizationId), max: partsMax / 2 },
    laneWidthMax: 1,
    sharesLanes: true,
    isOpen: parts.isOpen,
    waitMsFor: (organizationId) => parts.servers.waitMsFor(organizationId),
    load: async (claims) => {
      await parts.servers.loadAll(claims)
      return claims.map(({ payload }) => payload as PartPayload)
    },
    giveUp: (claim, { broadcastId }, error) => giveUpPart(parts, claim, broadcastId, error),
    isFinal: (error) => error instanceof Unrecorded,
    handle: async (claim, payload, isLeased) => {
      const retryInMs = await sendPart({ ...sender, isOpen: () => isOpen() && isLeased() }, claim, payload)
      return { peer: 'responsive', retryInMs }
    },
    // No email is started after this.
    onStop: () => {
      isStopping = true
    },
  }
}

async function record({ db }: BroadcastJobParts, results: RecipientResult[]): Promise<void> {
  const write = () => db.begin((tx) => settleRecipients(tx, results))
  await persisting(() => retrying(settleTries, write, mayRecordAgain))
}

type Sender = BroadcastJobParts & {
  results: EffectRecords<RecipientResult>
  slots: Slots
  /** Of organizations with mail servers. These may be slow, so others do not wait for their slots. */
  slotsWithServers: LRUCache<OrganizationId, Slots>
  /** For each turn, a function that halts it if its broadcast is no longer being sent. */
  checks: Map<BroadcastId, Set<() => Promise<void>>>
}

/** Returns when the next turn of the part is due. Null if there is none, or if its job was ended with the part. */
async function sendPart(
  sender: Sender,
  claim: Claim,
  { broadcastId, part: number }: PartPayload,
): Promise<number | null> {
  const { db } = sender
  const { organizationId } = claim
  const postpone = async (retryInMs: number | null) => {
    await endJobs(db, [{ claim, retryInMs }])
    return retryInMs
  }
  const broadcast = await findBroadcast(db, organizationId, broadcastId)
  const part = await findPart(db, { organizationId, broadcastId, part: number })
  if (!broadcast || !part || part.doneAt) return postpone(null)
  if (broadcast.status === 'cancelled') return endPart(sender, claim, part).then(() => null)
  // The lane is held while the broadcast is paused.
  if (broadcast.status !== 'sending' || !sender.isOpen()) return postpone(0)
  if (+broadcast.now - +claim.dueAt! > broadcast.missedAfterSeconds * 1000)
    return pauseAutomatically(sender, broadcast, async () => interrupted).then(() => null)

  const { window, time_zone: zone } = broadcast.schedule
  const state = window && windowAt(window, part.zone ?? zone, +broadcast.now)
  if (state && !state.isOpen) return postpone(state.until - +broadcast.now)

  const flow = await findFlowOf(db, organizationId, broadcast.flowId!, true)
  // The organization was deleted.
  if (!flow) return postpone(null)
  const versionFor = await loadVersions(sender, broadcast, broadcast.flowVersionId!)
  if (!versionFor) throw new Error('The flow of the broadcast is missing')
  const until = Math.min(
    Date.now() + turnMs,
    state ? Date.now() + state.until - +broadcast.now : Number.POSITIVE_INFINITY,
  )
  let bounces = 0
  const onHardBounce = () => {
    if (++bounces % bouncesPerCheck === 0) void brake(sender, broadcast).catch(() => {})
  }
  const input = {
    broadcast,
    flow: { ...flow, kind: kindOf(broadcast) },
    versionFor,
    part,
    until,
    isOpen: () => sender.isOpen() && sender.servers.waitMsFor(organizationId) === 0,
    onHardBounce,
  }
  const slots = await slotsFor(sender, organizationId)
  const end = await runTurn(sender, broadcast, new Turn({ ...sender, slots }, input))
  if (end.kind === 'done') return endPart(sender, claim, part).then(() => null)
  return postpone(delayAfter(end, sender.retryDelays))
}

async function slotsFor({ servers, slots, slotsWithServers }: Sender, organizationId: OrganizationId): Promise<Slots> {
  await servers.load(organizationId)
  if (!servers.hasServers(organizationId)) return slots
  const known = slotsWithServers.get(organizationId) ?? new Slots(withServersMax)
  slotsWithServers.set(organizationId, known)
  return known
}

function delayAfter(end: TurnEnd, retryDelays: readonly number[]): number {
  switch (end.kind) {
    case 'rate':
      return end.waitMs
    case 'deferred':
      return Math.min(deferredMsMax, (retryDelays[0] ?? Number.POSITIVE_INFINITY) * 1000)
    case 'unavailable':
      return unavailableMs
    case 'done':
    case 'lost':
    case 'over':
      return 0
  }
}

/** The work whose failures are logged: looking for a pause and for too many complaints, once for all broadcasts. */
const checkWork = 'check of broadcasts'

/** Runs a turn and halts it when the broadcast is no longer being sent. */
async function runTurn(sender: Sender, broadcast: Broadcast, turn: Turn): Promise<TurnEnd> {
  const { organizationId, id } = broadcast
  const failed = (error: unknown): null => {
    sender.failures.failed(checkWork, error)
    return null
  }
  const checkStatus = async () => {
    const status = await findStatus(sender.db, organizationId, id).catch(failed)
    if (status === null) return
    sender.failures.succeeded(checkWork)
    if (status !== 'sending') turn.halt()
  }
  const checks = sender.checks.get(id) ?? new Set()
  sender.checks.set(id, checks.add(checkStatus))
  const checking = setInterval(() => void checkStatus(), checkEveryMs)
  const braking = setInterval(() => {
    // One of the parts that this process is sending looks for all of them.
    if (checks.values().next().value === checkStatus) void brake(sender, broadcast).catch(failed)
  }, brakeEveryMs)
  try {
    const end = await turn.run()
    if (end.kind !== 'done') await brake(sender, broadcast)
    return end
  } finally {
    clearInterval(checking)
    clearInterval(braking)
    checks.delete(checkStatus)
    if (checks.size === 0) sender.checks.delete(id)
  }
}

async function brake(sender: Sender, broadcast: Broadcast): Promise<void> {
  if (!(await findBrakeReason(sender.db, broadcast))) return
  // Checked again under the lock: the broadcast may have been paused and resumed since.
  await pauseAutomatically(sender, broadcast, (tx, current) => findBrakeReason(tx, current))
}

/** Ends a part. The last one enqueues the step that determines the result. */
async function endPart(sender: Sender, claim: Claim, part: Part): Promise<void> {
  const { organizationId, broadcastId } = part
  await sender.db.begin(async (tx: Tx) => {
    const broadcast = await lockBroadcast(tx, organizationId, broadcastId)
    await markPartDone(tx, part)
    await settleJobs(tx, [{ claim, retryInMs: null }])
    // A cancelled broadcast has this step already.
    if (!broadcast || broadcast.status === 'cancelled') return
    if ((await selectOpenParts(tx, organizationId, broadcastId)).length === 0) await afterLastPart(tx, broadcast)
  })
}

/** Functions for the worker that sends deferred emails. */
export const broadcastsOfMessages = (db: Db): BroadcastParts => ({
  findCancelled: async (rows) =>
    new Set(
      await selectCancelled(
        db,
        rows.map((row) => ({ ...row, broadcastId: row.broadcastId! })),
      ),
    ),
  settle: (tx, changes) =>
    settleRetries(
      tx,
      changes.map(
        ({ row, outcome }): RetryResult => ({
          organizationId: row.organizationId,
          broadcastId: row.broadcastId!,
          contactId: row.contactId,
          messageId: row.id,
          status: statusOf(outcome.status as RetryResult['status'], outcome.reason),
          reason: outcome.reason,
        }),
      ),
    ),
})
