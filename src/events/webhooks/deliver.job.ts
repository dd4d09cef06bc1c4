import { signWebhook } from '@waxwing/sdk'
import { version } from '../../platform/config/package-root.ts'
import { createBatcher, type DbBatcherOptions } from '../../platform/db/cluster/batches.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { isUnrecordable, persisting, retrying } from '../../platform/db/retrying.ts'
import { type AttemptResult, reasonInWords } from '../../platform/egress/post-outcome.ts'
import type { ResponseRules } from '../../platform/egress/response-rules.ts'
import type { SafePost } from '../../platform/egress/safe-post.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { type Settled, type Settlement, settleJobs, settlementsOf, settling } from '../../platform/queue/settle-jobs.ts'
import { EffectRecords, Unrecorded, unrecordedOf } from '../../platform/queue/unrecorded.ts'
import { effectFailuresMax, type Handled, type PeerState, type WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type DeliveryId, toText } from '../../platform/values/ids.ts'
import {
  type DeliveryResult,
  type DeliveryRow,
  eraseResponses,
  findDeliveriesToSend,
  insertAttempts,
  updateDeliveries,
  updateEndpoints,
  updateUntried,
} from './deliver.sql.ts'
import { type Attempt, failDeliveries } from './deliveries.sql.ts'
import { webhookBody } from './envelope.ts'
import { deliverKind, type Endpoint, type HandedDelivery } from './fan-out.ts'
import type { DeliveryMetrics } from './metrics.ts'
import type { RetryDelays, RetrySchedule } from './retry-schedules.ts'
import type { SealedSecrets } from './signing-secrets.sql.ts'
import { openSecrets, unreadableSecret } from './signing-secrets.ts'

export type DeliverParts = {
  db: Db
  stageRegistry: StageRegistry
  log: Log
  box: SecretBox
  safePost: SafePost
  metrics: DeliveryMetrics
  retryDelays: RetryDelays
  /** Concurrent requests to one endpoint. */
  laneWidthMax: number
}

const inFlightMax = 1_000
const laneWidthFirst = 2
const recordBatchMax = 500
const recordWaitingMax = 10_000
/** Short, because a delivery whose record is lost in a crash is posted again. */
const recordPaceMs = 25
const recordTries = 5
/** Pause after this process ran out of resources to connect. */
const restMs = 1_000
const restLoggedEveryMs = 60_000
/** When a delivery that cannot be signed is looked at again: APP_SECRET_PREVIOUS may be set, or the secret rotated. */
const unsignableRetryMs = 30_000
/** Then it fails, so that an endpoint whose secret is lost does not collect deliveries without end. */
const unsignableMsMax = 3 * dayMs

/** Posts events to endpoints. May run more than once per delivery; receivers deduplicate by the webhook-id header. */
export function deliverJob(parts: DeliverParts): WorkerSpec<ToAttempt | Unsignable> {
  const options: DbBatcherOptions<DeliveryResult, void> = {
    name: 'record attempts',
    organizationOf: ({ settlement }) => settlement.claim.organizationId,
    itemsMax: recordBatchMax,
    waitingPerOrganization: recordWaitingMax / 2,
    waitingMax: recordWaitingMax,
    paceMs: recordPaceMs,
    run: async (results) => {
      const write = (ours: readonly DeliveryResult[]) =>
        parts.db.begin((tx) => recordAttempts(tx, ours), { rows: ours.length })
      await persisting(() => retrying(recordTries, () => settling(results, write)))
      return results.map(() => ({ ok: true, value: undefined }))
    },
    splitOn: isUnrecordable,
  }
  const batcher = createBatcher(parts.db, parts.stageRegistry, options)
  const records = new EffectRecords<DeliveryResult>((result) => batcher.add(result))
  const record = (peer: PeerState, result: DeliveryResult): Handled => {
    const { claim, retryInMs } = result.settlement
    return { peer, recorded: records.add(claim.id, result), retryInMs }
  }

  let restUntil = 0
  let restLoggedAt = Number.NEGATIVE_INFINITY
  const rest = (because: string) => {
    const now = performance.now()
    restUntil = now + restMs
    if (now - restLoggedAt < restLoggedEveryMs) return
    restLoggedAt = now
    parts.log.warn({ because }, 'Webhook deliveries are paused: this process cannot open connections')
  }

  return {
    kind: deliverKind,
    inFlightMax,
    laneWidthMax: parts.laneWidthMax,
    laneWidthFirst,
    isOpen: () => performance.now() >= restUntil,
    handedOver: (work) => fromHanded(parts, work as HandedDelivery),
    load: (claims) => load(parts, claims),
    handle: async (claim, toAttempt) => {
      const unrecorded = unrecordedOf(records, claim)
      if (unrecorded) return record('responsive', unrecorded)
      if ('isUnsignable' in toAttempt) return postponeUnsignable(parts, claim, toAttempt)
      const attempted = await attemptDelivery(parts, toAttempt)
      if ('notSent' in attempted) {
        rest(attempted.notSent)
        return { peer: 'untried' }
      }
      const result = resultOf(claim, toAttempt, attempted, parts.retryDelays[toAttempt.retrySchedule])
      return record(peerStateOf(attempted.outcome), result)
    },
    failuresMax: effectFailuresMax,
    giveUp: (claim, { id }, error) => {
      const reason = error instanceof Unrecorded ? unrecordedReason : failedReason
      return parts.db.begin((tx) => endUntried(tx, { claim, retryInMs: null }, id, reason))
    },
  }
}

const unrecordedReason = 'The result of an attempt could not be recorded, so the endpoint may have received it'
const failedReason = 'Not sent: an internal error occurred'

/** Records attempts, updates their deliveries and webhooks, and settles their jobs. */
async function recordAttempts(tx: Tx, results: readonly DeliveryResult[]): Promise<Settled> {
  const settling = settleJobs(tx, settlementsOf(results))
  updateEndpoints(tx, results)
  const updated = updateDeliveries(tx, results)
  insertAttempts(tx, results)
  // Sent together: each answer that is waited for wakes this process and the database.
  const [settled, erased] = await Promise.all([settling, updated])
  if (!settled.hasAll(results)) return tx.rollback(settled)
  if (erased.length > 0) await eraseResponses(tx, erased)
  return settled
}

/** The lane is reduced to one delivery at a time, as if the endpoint did not respond. */
async function postponeUnsignable({ db }: DeliverParts, claim: Claim, { id, createdAt }: Unsignable): Promise<Handled> {
  const isExpired = Date.now() - createdAt.getTime() > unsignableMsMax
  const settlement = { claim, retryInMs: isExpired ? null : unsignableRetryMs, untried: true }
  await db.begin((tx) => endUntried(tx, settlement, id, `Not sent: ${unreadableSecret}`))
  return { peer: 'unresponsive' }
}

async function endUntried(tx: Tx, settlement: Settlement, id: DeliveryId, reason: string): Promise<void> {
  const settled = await settleJobs(tx, [settlement])
  if (settled.size > 0) updateUntried(tx, settlement, id, reason)
}

async function load({ db, box }: DeliverParts, claims: Claim[]): Promise<(ToAttempt | Unsignable | undefined)[]> {
  const rows = new Map(
    (await findDeliveriesToSend(db.forRows(claims.length), claims)).map((row) => [row.id as string, row]),
  )
  const open = openEachOnce(box)
  const withoutEvent: DeliveryRow[] = []
  const attempts = claims.map(({ id }) => {
    const row = rows.get(id)
    if (!row) return undefined
    const body = row.body ?? bodyOf(row)
    const secrets = openSecrets(row, open)
    if (body === undefined) {
      withoutEvent.push(row)
      return undefined
    }
    if (!secrets) return { id: row.id, createdAt: row.createdAt, isUnsignable: true as const }
    return toAttempt(row, row, { body, secrets, number: row.attemptCount + 1 })
  })
  if (withoutEvent.length > 0)
    await failDeliveries(db.statement, withoutEvent, 'Not sent: the event was deleted by the retention period')
  return attempts
}

/** The first attempt of a delivery that this process has just created. */
function fromHanded({ box }: DeliverParts, { id, event, endpoint }: HandedDelivery): ToAttempt | Unsignable {
  const secrets = openSecrets(endpoint, (sealed) => box.open(sealed))
  if (!secrets) return { id, createdAt: new Date(), isUnsignable: true }
  const delivery = { id, eventName: event.eventName, isTest: false }
  return toAttempt(delivery, endpoint, { body: webhookBody(event), secrets, number: 1 })
}

const toAttempt = (
  { id, eventName, isTest }: Pick<DeliveryRow, 'id' | 'eventName' | 'isTest'>,
  { url, acknowledge, retry4xx, retrySchedule }: Omit<Endpoint, keyof SealedSecrets>,
  attempt: Pick<ToAttempt, 'body' | 'secrets' | 'number'>,
): ToAttempt => ({ id, eventName, isTest, url, rules: { acknowledge, retry4xx }, retrySchedule, ...attempt })

/** The deliveries of an endpoint share its secrets, so each is decrypted once. */
function openEachOnce(box: SecretBox): (sealed: Buffer) => string | undefined {
  const opened = new Map<string, string | undefined>()
  return (sealed) => {
    const key = sealed.toString('latin1')
    if (!opened.has(key)) opened.set(key, box.open(sealed))
    return opened.get(key)
  }
}

/** Returns undefined if the event was deleted by the retention before the first attempt. */
export function bodyOf(row: DeliveryRow): string | undefined {
  if (!row.occurredAt) return undefined
  const { organizationId, eventName, occurredAt, messageId, flowId, machine, data } = row
  const contact = { id: row.contactId, email: row.contactEmail, firstName: row.contactFirstName }
  return webhookBody({
    organizationId,
    id: row.eventId,
    eventName,
    occurredAt,
    messageId,
    flowId,
    machine,
    data,
    contact,
  })
}

/** A request to send. */
export type ToPost = Pick<DeliveryRow, 'id' | 'eventName' | 'url'> & {
  body: string
  secrets: string[]
  number: number
  rules: ResponseRules
}

export type ToAttempt = ToPost & { retrySchedule: RetrySchedule; isTest: boolean }

/** A delivery of a webhook whose secret cannot be decrypted. */
export type Unsignable = Pick<DeliveryRow, 'id' | 'createdAt'> & { isUnsignable: true }

type Attempted = { attempt: Attempt; outcome: AttemptResult }

/**
 * Sends one signed request, outside any transaction, so that a slow receiver never holds a database connection. Returns the reason
 * if this process had no resources to send it: the delivery stays due.
 */
export async function attemptDelivery(
  { safePost, metrics }: Pick<DeliverParts, 'safePost' | 'metrics'>,
  { id, eventName, url, body, secrets, number, rules }: ToPost,
): Promise<Attempted | { notSent: string }> {
  const at = new Date()
  const signed = signWebhook({ id: toText('dlv', id), timestamp: Math.floor(at.getTime() / 1000), body, secrets })
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Waxwing/${version}`,
    'X-Service-Event': eventName,
    ...signed,
  }
  const outcome = await safePost.post(url, headers, body, rules)
  metrics.attempted(outcome)
  if (outcome.kind === 'local_resource_error') return { notSent: reasonInWords(outcome) }
  return {
    outcome,
    attempt: {
      number,
      at,
      durationMs: Math.round(outcome.durationMs),
      statusCode: 'statusCode' in outcome ? outcome.statusCode : null,
      outcome: outcome.kind,
      reason: reasonInWords(outcome),
      signature: signed['X-Service-Signature']!,
      standardSignature: signed['webhook-signature']!,
      responseBody: outcome.responseBody,
    },
  }
}

function resultOf(
  claim: Claim,
  { body, isTest }: ToAttempt,
  { attempt, outcome }: Attempted,
  retryDelays: readonly number[],
): DeliveryResult {
  const end = (status: DeliveryResult['status'], retryInMs: number | null = null): DeliveryResult => ({
    settlement: { claim, retryInMs },
    body,
    status,
    attempt,
    isTest,
  })
  switch (outcome.kind) {
    case 'acknowledged':
      return end('delivered')
    case 'refused':
      return end('failed')
    case 'not_acknowledged':
    case 'timed_out':
    case 'unreachable': {
      const delay = retryDelays[claim.attempt]
      if (delay === undefined) return end('failed')
      const wantedDelay = outcome.kind === 'not_acknowledged' ? outcome.retryAfterSeconds : 0
      return end('pending', Math.round(Math.max(delay, wantedDelay) * 1000))
    }
  }
}

function peerStateOf(outcome: AttemptResult): PeerState {
  return outcome.kind === 'timed_out' || outcome.kind === 'unreachable' ? 'unresponsive' : 'responsive'
}
