import type { TemplateCache } from '../../content/content.ts'
import { findSubscriptionsOf, mayRecordAgain, recordEvents } from '../../events/events.ts'
import { createBatcher, type DbBatcherOptions } from '../../platform/db/cluster/batches.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { isUnrecordable, persisting, retrying } from '../../platform/db/retrying.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, type Settled, settleJobs, settlementsOf, settling } from '../../platform/queue/settle-jobs.ts'
import { EffectRecords, Unrecorded, unrecordedOf } from '../../platform/queue/unrecorded.ts'
import { effectFailuresMax, type Handled, type WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import { loadContents } from '../attachments/contents.ts'
import { insertQueuedIntoInbox } from '../inbox/inbox.ts'
import { type AttemptParts, attemptMessage } from './attempt.ts'
import { mustMark } from './begun.ts'
import { end, isSkip, type Skip, unavailable } from './outcome.ts'
import type { MessageToSend } from './outgoing.ts'
import { findMessagesToSend, type MessageChange, type Outcome, type SendRow, updateMessages } from './send.sql.ts'
import { SendingMarks } from './sending-marks.ts'

export type SendParts = AttemptParts & {
  db: Db
  templates: TemplateCache
  inFlightMax: number
  stageRegistry: StageRegistry
  broadcasts?: BroadcastParts
}

/** Functions for messages that belong to a broadcast. They are called only for such messages. */
export type BroadcastParts = {
  settle: SettleBroadcasts
  /** Returns those of the broadcasts that were cancelled. */
  findCancelled: (rows: readonly SendRow[]) => Promise<ReadonlySet<BroadcastId>>
}

/** Emails in flight of an organization that has mail servers, which may be slow, and as a share of all. */
const withServersMax = 50
const withServersShare = 0.25
const settleBatchMax = 500
// More than can be in flight, because an outcome must not be lost.
const settleWaitingPerOrganization = 10_000
const settleWaitingMax = 20_000
const settlePaceMs = 25
const settleTries = 5

/**
 * Sends queued messages. A message is handed to the relay at least once: a crash between the 250 of the relay and our
 * commit sends it again, with the same Message-ID. The outcome is committed together with its job and its event.
 */
export function sendJob(parts: SendParts): WorkerSpec<Work> {
  const options: DbBatcherOptions<MessageChange, void> = {
    name: 'settle sends',
    organizationOf: ({ row }) => row.organizationId,
    itemsMax: settleBatchMax,
    waitingPerOrganization: settleWaitingPerOrganization,
    waitingMax: settleWaitingMax,
    paceMs: settlePaceMs,
    run: async (batch) => {
      await settle(parts, batch)
      return batch.map(() => ({ ok: true, value: undefined }))
    },
    splitOn: isUnrecordable,
  }
  const batcher = createBatcher(parts.db, parts.stageRegistry, options)
  const results = new EffectRecords<MessageChange>((change) => batcher.add(change))
  const marks = new SendingMarks(parts.db, parts.stageRegistry)

  return {
    kind: 'message.send',
    inFlightMax: parts.inFlightMax,
    laneWidthMax: parts.inFlightMax,
    isOpen: () => parts.servers.isOpen(),
    waitMsFor: (organizationId) => parts.servers.waitMsFor(organizationId),
    perOrganizationMax: (organizationId) =>
      parts.servers.hasServers(organizationId)
        ? Math.min(withServersMax, Math.ceil(parts.inFlightMax * withServersShare))
        : parts.inFlightMax,
    slowPeers: {
      has: (organizationId) => parts.servers.hasServers(organizationId),
      max: Math.ceil(parts.inFlightMax / 2),
    },
    isSlow: ({ version, content }) =>
      content ? content.isLarge || parts.contents.waitsForText(content) : parts.runner.isSlow(version),
    handedOver: (work) => workOf(work as MessageToSend, { isCancelled: false, isMarked: false }),
    load: (claims) => load(parts, claims),
    handle: async (claim, work, isLeased) => {
      const { row, isMarked } = work
      const record = (change: MessageChange): Handled => {
        const { retryInMs } = change.settlement
        return { peer: 'responsive', recorded: results.add(claim.id, change), retryInMs }
      }
      const unrecorded = unrecordedOf(results, claim)
      if (unrecorded) return record(unrecorded)
      if (isMarked) {
        const isOurs = await marks.mark(claim)
        if (isOurs === undefined) return { peer: 'untried' }
        if (!isOurs) return { peer: 'responsive', recorded: endJobs(parts.db, [{ claim, retryInMs: null }]) }
      }
      // Unmarked before the lane can be released, so that no other worker has marked it.
      const unmark = async () => {
        if (isMarked) await marks.unmark(claim)
      }
      const outcome = work.isCancelled
        ? cancelled
        : await attempt(parts, work, claim, isLeased).catch((error) => unmark().then(() => Promise.reject(error)))
      if (!isSkip(outcome)) {
        const { retryInMs, waiting } = outcome
        return record({ settlement: { claim, retryInMs, untried: waiting !== null }, row, outcome })
      }
      await unmark()
      return { peer: 'untried' }
    },
    failuresMax: effectFailuresMax,
    giveUp: (claim, { row }, error) => {
      const reason = error instanceof Unrecorded ? unrecordedReason : failedReason
      const outcome = end({ status: 'failed', reason })
      return settle(parts, [{ settlement: { claim, retryInMs: null }, row, outcome }])
    },
  }
}

const unrecordedReason = 'its outcome could not be recorded, so it may have been sent'
const failedReason = 'it could not be processed because of an internal error'

/**
 * `isMarked`: it is marked as being sent before it is sent. Emails of broadcasts are not, since only the broadcast can be
 * cancelled. `readAt`: on the clock of the process.
 */
type Work = MessageToSend & { isCancelled: boolean; isMarked: boolean; readAt: number }

const cancelled: Outcome = {
  status: 'cancelled',
  retryInMs: null,
  reason: 'the broadcast was cancelled',
  relayReply: null,
  queueId: null,
  event: null,
  inbox: null,
  mailServerId: null,
  waiting: null,
}

function attempt(parts: SendParts, work: Work, claim: Claim, isLeased: () => boolean): Promise<Outcome | Skip> {
  const holdBack = () => (isLeased() ? undefined : unavailable)
  return work.row.broadcastId === null
    ? attemptMessage(parts, work, claim.attempt, { holdBack })
    : attemptOfBroadcast(parts, work, claim, holdBack)
}

/** A row of a broadcast that was read longer ago is read again before the email leaves: the contact may have unsubscribed. */
const recentMs = 1_500

async function attemptOfBroadcast(
  parts: SendParts,
  work: Work,
  claim: Claim,
  holdBack: () => Skip | undefined,
): Promise<Outcome | Skip> {
  const unlessRecent = () => holdBack() ?? (performance.now() - work.readAt > recentMs ? { skip: 'stale' } : undefined)
  const outcome = await attemptMessage(parts, work, claim.attempt, { bulk: true, holdBack: unlessRecent })
  if (!isSkip(outcome) || outcome.skip !== 'stale') return outcome
  const [current] = await load(parts, [claim])
  if (!current) return { skip: 'unavailable' }
  // It has waited for its turn, so it need not wait for the other emails of broadcasts again.
  return current.isCancelled ? cancelled : attemptMessage(parts, current, claim.attempt, { holdBack })
}

async function load({ db, servers, templates, broadcasts }: SendParts, claims: Claim[]): Promise<(Work | undefined)[]> {
  await servers.loadAll(claims)
  const found = await findMessagesToSend(db.forRows(claims.length), claims)
  const rows = new Map(found.map((row) => [row.id as string, row]))
  const versions = await templates.getAll(
    [...rows.values()].map(({ organizationId, flowVersionId: id }) => ({ organizationId, id })),
  )
  const contents = await loadContents(
    db,
    found.flatMap(({ organizationId, contentId: id }) => (id ? [{ organizationId, id }] : [])),
  )
  const ofBroadcasts = [...rows.values()].filter(({ broadcastId }) => broadcastId !== null)
  const cancelledIds = (ofBroadcasts.length > 0 && (await broadcasts?.findCancelled(ofBroadcasts))) || new Set()
  return claims.map(({ id, attempt, faults }) => {
    const row = rows.get(id)
    const version = row && versions.get(row.flowVersionId)
    const content = row?.contentId ? contents.get(row.contentId) : undefined
    if (!version || (row.contentId && !content)) return undefined
    const isCancelled = row.broadcastId !== null && cancelledIds.has(row.broadcastId)
    return workOf(
      { row, version, content },
      { isCancelled, isMarked: row.broadcastId === null && mustMark(row, attempt + faults) },
    )
  })
}

/** The test of a draft has the kind of the draft. */
const workOf = ({ row, version, content }: MessageToSend, marks: Pick<Work, 'isCancelled' | 'isMarked'>): Work => ({
  row: version.kind ? { ...row, flowKind: version.kind } : row,
  version,
  content,
  ...marks,
  readAt: performance.now(),
})

/** Records final outcomes of messages that belong to a broadcast, in the transaction that updates them. */
type SettleBroadcasts = (tx: Tx, changes: readonly MessageChange[]) => Promise<void>

async function settle({ db, broadcasts }: SendParts, changes: MessageChange[]): Promise<void> {
  const write = (ours: readonly MessageChange[]) =>
    db.begin((tx) => settleMessages(tx, ours, broadcasts?.settle), { rows: ours.length })
  await persisting(() => retrying(settleTries, () => settling(changes, write), mayRecordAgain))
}

/** Settles the jobs, updates their messages and records their events. */
async function settleMessages(
  tx: Tx,
  changes: readonly MessageChange[],
  settleBroadcasts?: SettleBroadcasts,
): Promise<Settled> {
  const inbox = changes.flatMap(({ outcome }) => outcome.inbox ?? [])
  if (inbox.length > 0) await insertQueuedIntoInbox(tx, inbox)
  const events = changes.flatMap(({ outcome }) => outcome.event ?? [])
  // Sent together: each answer that is waited for wakes this process and the database.
  const [settled, updated, subscriptions] = await Promise.all([
    settleJobs(tx, settlementsOf(changes)),
    updateMessages(tx, changes),
    findSubscriptionsOf(tx, events),
  ])
  if (!settled.hasAll(changes)) return tx.rollback(settled)
  // Erasing a contact changes its messages, so the contact of an updated message exists until the commit.
  const ours = changes.filter(({ row }) => updated.has(row.id))
  const knownMessages = ours.map(({ row }) => row)
  // A bounce of the others was recorded, or they ended otherwise, while their emails were being sent.
  const messagesAreUpdated = ours.length === changes.length
  await recordEvents(tx, events, { messagesAreUpdated, mayCountLater: true, knownMessages, subscriptions })
  const inBroadcasts = ours.filter(({ row, outcome }) => row.broadcastId !== null && outcome.status !== 'queued')
  if (inBroadcasts.length > 0) await settleBroadcasts?.(tx, inBroadcasts)
  return settled
}
