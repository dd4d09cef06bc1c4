import { classifyReply } from '@waxwing/bounce-classifier'
import type { SendOutcome, Transport } from '@waxwing/smtp-client'
import type { Db } from '../db/db.ts'
import { persisting, retrying } from '../db/retrying.ts'
import { derivedEventId, mayRecordAgain, type NewEvent } from '../events/record.ts'
import { NeedsTask, type RenderedBody } from '../flows/template.ts'
import type { ReadyVersion, TemplateCache } from '../flows/template-cache.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import type { TemplateValues } from '../flows/values.ts'
import { type InboxRow, inboxReply, insertQueuedIntoInbox } from '../inbox/inbox.ts'
import type { DkimSigner } from '../mail/dkim.ts'
import { type SenderPolicy, senderNotVerifiedReason } from '../mail/sender-policy.ts'
import type { Hints } from '../queue/hints.ts'
import type { Claim } from '../queue/queue.ts'
import type { WorkerSpec } from '../queue/worker.ts'
import { Batcher } from '../runtime/batcher.ts'
import { currentSection, enterSection } from '../runtime/event-loop.ts'
import type { Tokens } from '../secrets/tokens.ts'
import { TaskProcessDied } from '../tasks/pool.ts'
import { Refusal } from '../values/errors.ts'
import type { BounceDetail } from '../values/event-types.ts'
import { groupBy } from '../values/group-by.ts'
import { suppressionReason } from './draft.ts'
import { type MailSettings, mailValues, makeMail, senderOf } from './outgoing.ts'
import { findMessagesToSend, type MessageChange, markSending, type SendRow, settleMessages } from './send.sql.ts'

export type SendParts = {
  db: Db
  hints: Hints
  templates: TemplateCache
  runner: TemplateRunner
  tokens: Tokens
  settings: MailSettings
  /** Undefined if no relay is configured: emails then go to the built-in inbox. */
  relay: Transport | undefined
  dkim: DkimSigner | undefined
  senders: SenderPolicy
  /** Seconds between attempts of an email that the relay defers. */
  retryDelays: readonly number[]
  inFlightMax: number
}

type Work = { row: SendRow; version: ReadyVersion }
type SendResult = { change: MessageChange; inbox: InboxRow | null }

const settleBatchMax = 500
const settleWaitingMax = 10_000
const settlePaceMs = 25
const settleTries = 5
const jitter = 0.1
/** Delays before an email is rendered again whose task process died, for example because the system was out of memory. */
const renderRetryDelaysMs = [1_000, 4_000, 10_000]

/**
 * Sends queued messages. A message is handed to the relay at least once: a crash between the 250 of the relay and our
 * commit sends it again, with the same Message-ID. The outcome is committed together with its job and its event.
 */
export function sendJob(parts: SendParts): WorkerSpec<Work> {
  const results = new Batcher<SendResult, void>({
    name: 'settle sends',
    itemsMax: settleBatchMax,
    waitingMax: settleWaitingMax,
    paceMs: settlePaceMs,
    run: async (batch) => {
      await settle(parts, batch)
      return batch.map(() => ({ ok: true, value: undefined }))
    },
  })

  return {
    kind: 'message.send',
    inFlightMax: parts.inFlightMax,
    laneWidthMax: parts.inFlightMax,
    isOpen: () => parts.relay?.state().kind !== 'down',
    isSlow: ({ version }) => parts.runner.isSlow(version),
    load: (claims) => load(parts, claims),
    handle: async (claim, work) => {
      const result = await send(parts, claim, work)
      return result ? { peer: 'responsive', recorded: results.add(result) } : { peer: 'untried' }
    },
  }
}

async function load({ db, templates }: SendParts, claims: Claim[]): Promise<(Work | undefined)[]> {
  const found = await withoutCancelled(db, claims, await findMessagesToSend(db, claims))
  const rows = new Map(found.map((row) => [row.id as string, row]))
  const versions = await templates.getAll(
    [...rows.values()].map(({ organizationId, flowVersionId: id }) => ({ organizationId, id })),
  )
  return claims.map(({ id }) => {
    const row = rows.get(id)
    const version = row && versions.get(row.flowVersionId)
    return version && { row, version }
  })
}

/**
 * Messages that were scheduled or deferred can be cancelled until they are marked as being sent. Marks them and returns
 * all messages except the cancelled ones. Other messages are not marked, since that would cost a write for each.
 */
async function withoutCancelled(db: Db, claims: Claim[], rows: SendRow[]): Promise<SendRow[]> {
  const deferred = new Set<string>(claims.flatMap(({ id, attempt }) => (attempt > 0 ? [id] : [])))
  const isCancellable = ({ id, isScheduled }: SendRow) => isScheduled || deferred.has(id)
  const organizations = groupBy(rows.filter(isCancellable), ({ organizationId }) => organizationId)
  if (organizations.length === 0) return rows
  const marked = await Promise.all(
    organizations.map(([organizationId, of]) => {
      const ids = of.map(({ id }) => id)
      return markSending(db.statement, organizationId, ids)
    }),
  )
  const ours = new Set(marked.flat())
  return rows.filter((row) => !isCancellable(row) || ours.has(row.id))
}

/** Returns undefined if the relay is unavailable, so that nothing was attempted. */
async function send(parts: SendParts, claim: Claim, { row, version }: Work): Promise<SendResult | undefined> {
  const end: ToResult = (change, retryInMs) => ({
    change: {
      settlement: { claim, retryInMs: retryInMs ?? null },
      reason: null,
      relayReply: null,
      queueId: null,
      event: null,
      ...change,
    },
    inbox: null,
  })

  // The contact may have unsubscribed or bounced since the message was accepted.
  const suppressed = suppressionReason({ kind: row.flowKind }, row, row.isTest)
  if (suppressed) return end({ status: 'suppressed', reason: suppressed })

  const { relay, dkim, senders } = parts
  // Covers messages accepted before the operator set or narrowed the sender domains.
  const { email: from } = senderOf(version, parts.settings.mailFrom)
  if (!senders.allows(from)) return end({ status: 'failed', reason: senderNotVerifiedReason(from) })

  const deliver = async (renderBody: (values: TemplateValues) => RenderedBody): Promise<SendResult | undefined> => {
    const write = () => makeMail(row, version, parts.tokens, parts.settings, renderBody)
    if (!relay) {
      const result = end({ status: 'sent', relayReply: inboxReply, event: sentEvent(row) })
      return { ...result, inbox: { organizationId: row.organizationId, messageId: row.id, ...write() } }
    }
    const section = currentSection()
    const outcome = await relay.send(() => {
      // The relay calls back once a connection is free.
      enterSection(section)
      const { sender, recipient, raw } = write()
      return {
        envelope: { from: sender, to: recipient },
        raw: dkim && senders.signs(from) ? dkim.sign(raw, row.queuedAt) : raw,
      }
    })
    return resultOf(outcome, { row, claim, retryDelays: parts.retryDelays, end })
  }
  try {
    // Light templates are rendered once a connection is free, so that waiting messages take no memory.
    return await deliver((values) => parts.runner.bodyNow(version, values)).catch(async (error) => {
      if (!(error instanceof NeedsTask)) throw error
      const body = await parts.runner.body(version, mailValues(row, parts.tokens, parts.settings), 'wait')
      return deliver((values) => {
        // The task process has read the unsubscribe URL, so the email may contain it.
        void values.unsubscribeUrl
        return body
      })
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error instanceof TaskProcessDied) return renderingDied({ claim, retryDelays: parts.retryDelays, end })
    // A task process is unavailable: nothing was attempted, and the job stays due.
    if (error.type === 'unavailable') return undefined
    return end({ status: 'failed', reason: error.message })
  }
}

type ToResult = (change: Partial<MessageChange> & Pick<MessageChange, 'status'>, retryInMs?: number) => SendResult
type ResultContext = { row: SendRow; claim: Claim; retryDelays: readonly number[]; end: ToResult }

/** The attempts of an email that the relay deferred count as well, so the limit is that of the longer schedule. */
function renderingDied({ claim, retryDelays, end }: Omit<ResultContext, 'row'>): SendResult {
  if (claim.attempt >= Math.max(renderRetryDelaysMs.length, retryDelays.length))
    return end({ status: 'failed', reason: 'the process that rendered this email ended unexpectedly, several times' })
  const delayMs = renderRetryDelaysMs[claim.attempt] ?? renderRetryDelaysMs.at(-1)!
  return end({ status: 'queued', reason: 'rendering was interrupted' }, withJitter(delayMs))
}

function resultOf(outcome: SendOutcome, { row, claim, retryDelays, end }: ResultContext): SendResult | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return end({ status: 'sent', relayReply: outcome.reply, queueId: outcome.queueId, event: sentEvent(row) })
    case 'refused': {
      // A rejected sender is a configuration problem and not a bounce.
      if (outcome.stage === 'sender')
        return end({ status: 'failed', reason: 'the relay rejected the sender', relayReply: outcome.reply })
      const { kind, reason, confidence, evidence } = classifyReply({
        replyCode: outcome.replyCode,
        status: outcome.status,
        text: outcome.reply,
        // The relay accepted the recipient, so the rejection concerns the content.
        command: outcome.stage === 'data' ? 'data' : 'rcpt',
      })
      const { replyCode, status, reply } = outcome
      const bounce = { type: kind, status, reply_code: replyCode, reason, diagnostic: reply, confidence, evidence }
      return end({ status: 'bounced', reason, relayReply: reply, event: bounceEvent(row, bounce) })
    }
    case 'deferred':
    case 'interrupted': {
      const response = outcome.kind === 'deferred' ? outcome.reply : outcome.reason
      const delay = retryDelays[claim.attempt]
      if (delay !== undefined)
        return end({ status: 'queued', reason: 'deferred', relayReply: response }, withJitter(delay * 1000))
      const { status, replyCode } = outcome.kind === 'deferred' ? outcome : { status: null, replyCode: null }
      const bounce = {
        type: 'soft' as const,
        status,
        reply_code: replyCode,
        reason: 'deferred too often',
        diagnostic: response,
      }
      return end({ status: 'bounced', reason: bounce.reason, relayReply: response, event: bounceEvent(row, bounce) })
    }
    case 'unreachable':
      return undefined
  }
}

const withJitter = (ms: number) => Math.round(ms * (1 - jitter + 2 * jitter * Math.random()))

function eventOf(row: SendRow, what: string, eventName: NewEvent['eventName'], data: NewEvent['data']): NewEvent {
  return {
    id: derivedEventId(row.id, what),
    organizationId: row.organizationId,
    eventName,
    occurredAt: new Date(),
    messageId: row.id,
    flowId: row.flowId,
    contactId: row.contactId,
    machine: false,
    machineReason: null,
    data,
  }
}
const sentEvent = (row: SendRow) => eventOf(row, 'sent', 'emailSent', {})
/** The same event that a bounce email or a provider webhook would record. */
function bounceEvent(row: SendRow, bounce: BounceDetail): NewEvent {
  const eventName = bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
  return eventOf(row, eventName, eventName, { bounce })
}

async function settle({ db, hints }: SendParts, results: SendResult[]): Promise<void> {
  const changes = results.map(({ change }) => change)
  const inbox = results.flatMap((result) => result.inbox ?? [])
  const write = () =>
    db.begin(async (tx) => {
      if (inbox.length > 0) await insertQueuedIntoInbox(tx, inbox)
      await settleMessages(tx, changes)
    })
  await persisting(() => retrying(settleTries, write, mayRecordAgain))
  hints.notify('webhook.deliver')
}
