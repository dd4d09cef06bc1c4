import { signWebhook } from '@waxwing/sdk'
import { version } from '../config/package-root.ts'
import type { Db } from '../db/db.ts'
import { persisting, retrying } from '../db/retrying.ts'
import type { Claim } from '../queue/queue.ts'
import type { PeerState, WorkerSpec } from '../queue/worker.ts'
import { Batcher } from '../runtime/batcher.ts'
import type { Log } from '../runtime/log.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { toText } from '../values/ids.ts'
import { type DeliveryEnding, type DeliveryRow, findDeliveriesToSend, recordAttempts } from './deliver.sql.ts'
import { type Attempt, failDeliveries } from './deliveries.sql.ts'
import { webhookBody } from './envelope.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { type PostOutcome, reasonInWords } from './post-outcome.ts'
import type { RetryDelays, RetrySchedule } from './retry-schedules.ts'
import type { SafePost } from './safe-post.ts'
import { openSecrets, unreadableSecret } from './signing-secrets.ts'
import { deliverKind } from './webhooks.ts'

export type DeliverParts = {
  db: Db
  log: Log
  box: SecretBox
  safePost: SafePost
  metrics: DeliveryMetrics
  retryDelays: RetryDelays
  /** Requests under way at once to one endpoint. */
  laneWidthMax: number
}

const inFlightMax = 1_000
const laneWidthFirst = 2
const recordBatchMax = 500
const recordWaitingMax = 10_000
/** Short, since a delivery whose record is lost with the process is posted again. */
const recordPaceMs = 25
const recordTries = 5
/** When this process has nothing left to connect with, something has to end first. */
const restMs = 1_000
const restLoggedEveryMs = 60_000

/** Posts events to endpoints. May run twice for one delivery: receivers tell by the webhook-id header. */
export function deliverJob(parts: DeliverParts): WorkerSpec<ToAttempt> {
  const records = new Batcher<DeliveryEnding, void>({
    name: 'record attempts',
    itemsMax: recordBatchMax,
    waitingMax: recordWaitingMax,
    paceMs: recordPaceMs,
    run: async (endings) => {
      await persisting(() => retrying(recordTries, () => recordAttempts(parts.db.statement, endings)))
      return endings.map(() => ({ ok: true, value: undefined }))
    },
  })

  let restUntil = 0
  let restLoggedAt = Number.NEGATIVE_INFINITY
  const rest = (because: string) => {
    const now = performance.now()
    restUntil = now + restMs
    if (now - restLoggedAt < restLoggedEveryMs) return
    restLoggedAt = now
    parts.log.warn({ because }, 'Webhooks wait: this process cannot open connections')
  }

  return {
    kind: deliverKind,
    inFlightMax,
    laneWidthMax: parts.laneWidthMax,
    laneWidthFirst,
    isOpen: () => performance.now() >= restUntil,
    load: (claims) => load(parts, claims),
    handle: async (claim, toAttempt) => {
      const { attempt, outcome } = await attemptDelivery(parts, toAttempt)
      const ending = endingOf(claim, toAttempt, attempt, outcome, parts.retryDelays[toAttempt.retrySchedule])
      if (!ending) {
        rest(attempt.reason)
        return { peer: 'untried' }
      }
      return { peer: peerStateOf(outcome), recorded: records.add(ending) }
    },
  }
}

async function load({ db, box }: DeliverParts, claims: Claim[]): Promise<(ToAttempt | undefined)[]> {
  const rows = new Map((await findDeliveriesToSend(db, claims)).map((row) => [row.id as string, row]))
  const open = openEachOnce(box)
  const withoutEvent: DeliveryRow[] = []
  const withoutSecret: DeliveryRow[] = []
  const toAttempt = claims.map(({ id }) => {
    const row = rows.get(id)
    if (!row) return undefined
    const body = row.body ?? bodyOf(row)
    const secrets = openSecrets(row, open)
    if (body === undefined) withoutEvent.push(row)
    else if (!secrets) withoutSecret.push(row)
    if (body === undefined || !secrets) return undefined
    const { id: deliveryId, eventName, url, attemptCount, retrySchedule, isTest } = row
    return { id: deliveryId, eventName, url, body, secrets, number: attemptCount + 1, retrySchedule, isTest }
  })
  if (withoutEvent.length > 0) await failDeliveries(db.statement, withoutEvent, 'not sent: the event is no longer kept')
  if (withoutSecret.length > 0) await failDeliveries(db.statement, withoutSecret, `not sent: ${unreadableSecret}`)
  return toAttempt
}

/** The deliveries of an endpoint share its secrets. */
function openEachOnce(box: SecretBox): (sealed: Buffer) => string | undefined {
  const opened = new Map<string, string | undefined>()
  return (sealed) => {
    const key = sealed.toString('latin1')
    if (!opened.has(key)) opened.set(key, box.open(sealed))
    return opened.get(key)
  }
}

/** Undefined when the event is gone: its month was dropped before the delivery was ever tried. */
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

/** One request to make. */
export type ToPost = Pick<DeliveryRow, 'id' | 'eventName' | 'url'> & {
  body: string
  secrets: string[]
  number: number
}

export type ToAttempt = ToPost & { retrySchedule: RetrySchedule; isTest: boolean }

/** One signed request, outside any transaction: a slow receiver must never hold a database connection. */
export async function attemptDelivery(
  { safePost, metrics }: Pick<DeliverParts, 'safePost' | 'metrics'>,
  { id, eventName, url, body, secrets, number }: ToPost,
): Promise<{ attempt: Attempt; outcome: PostOutcome }> {
  const at = new Date()
  const signed = signWebhook({ id: toText('dlv', id), timestamp: Math.floor(at.getTime() / 1000), body, secrets })
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Waxwing/${version}`,
    'X-Service-Event': eventName,
    ...signed,
  }
  const outcome = await safePost.post(url, headers, body)
  metrics.attempted(outcome)
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
      responseBody: outcome.responseBody,
    },
  }
}

/** Undefined when the endpoint was not even asked: the delivery stays due. */
function endingOf(
  claim: Claim,
  { body, isTest }: ToAttempt,
  attempt: Attempt,
  outcome: PostOutcome,
  retryDelays: readonly number[],
): DeliveryEnding | undefined {
  const end = (status: DeliveryEnding['status'], retryInMs: number | null = null): DeliveryEnding => ({
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
      return delay === undefined ? end('failed') : end('pending', Math.round(delay * 1000))
    }
    case 'prevented':
      return undefined
  }
}

function peerStateOf(outcome: PostOutcome): PeerState {
  return outcome.kind === 'timed_out' || outcome.kind === 'unreachable' ? 'unresponsive' : 'responsive'
}
