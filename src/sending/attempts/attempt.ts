import { classifyReply } from '@waxwing/bounce-classifier'
import type { SendOutcome } from '@waxwing/smtp-client'
import { erasedReason, ineligibleReason } from '../../audience/audience.ts'
import { hasManyLinks, type TemplateRunner } from '../../content/content.ts'
import {
  type Carried,
  type Limited,
  type MailServers,
  noProviders,
  type OpenServer,
  providersOf,
  type ReceivingSites,
  type Senders,
  type SendingLimits,
  senderNotVerifiedReason,
  sendThrough,
} from '../../delivery/delivery.ts'
import { currentSection, enterSection } from '../../platform/runtime/event-loop.ts'
import { nextTurn } from '../../platform/runtime/pacer.ts'
import type { Tokens } from '../../platform/secrets/tokens.ts'
import { TaskProcessDied } from '../../platform/tasks/pool.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { MailServerId } from '../../platform/values/ids.ts'
import { isDemoAddress } from '../../platform/values/simulated-recipients.ts'
import type { ContentStore } from '../attachments/content-store.ts'
import { type InboxRow, inboxReply } from '../inbox/inbox.ts'
import { onlyUnlimited, reportDeferral, takeLimits } from './email-limits.ts'
import { bounceEvent, sentEvent } from './outcome-events.ts'
import {
  type EmailSettings,
  emailValues,
  type MessageToSend,
  makeEmail,
  type OutgoingEmail,
  type Rendering,
  senderOfMessage,
} from './outgoing.ts'
import type { Outcome, SendRow } from './send.sql.ts'
import { simulatedOutcome } from './simulated-outcome.ts'

export type { MessageToSend } from './outgoing.ts'
export type { Outcome, SendRow } from './send.sql.ts'

export type AttemptParts = {
  runner: TemplateRunner
  tokens: Tokens
  settings: EmailSettings
  servers: MailServers
  limits: SendingLimits
  sites: ReceivingSites
  senders: Senders
  contents: ContentStore
  /** Seconds between attempts of an email that the relay defers. */
  retryDelays: readonly number[]
}

export type AttemptOptions = {
  /** True for emails that wait until no other email is waiting for a connection. */
  bulk?: boolean
  /** True if it is sent by its broadcast, and not from the queue. */
  isInBroadcast?: boolean
  /** Called when a connection is free. If it returns true, the email is not sent. */
  isHalted?: () => boolean
}

const jitter = 0.1
const waitMsMin = 1_000
/** Reasons of queued emails. */
export const serverDownReason = 'mail server unavailable'
export const limitReason = 'limit reached'
/** Delays before an email is rendered again whose task process died, for example because the system was out of memory. */
const renderRetryDelaysMs = [1_000, 4_000, 10_000]

/**
 * Composes an email and passes it to a mail server. Returns undefined if nothing was attempted because all of them are
 * unavailable or sending was halted. The memory of large emails is limited.
 */
export async function attemptMessage(
  parts: AttemptParts,
  message: MessageToSend,
  attempt: number,
  options: AttemptOptions = {},
): Promise<Outcome | undefined> {
  if (!message.content?.isLarge) return attemptLoaded(parts, message, attempt, options)
  const { organizationId } = message.row
  try {
    await parts.servers.load(organizationId)
    const byOwnServer = parts.servers.hasServers(organizationId)
    return await parts.contents.whole(message.content, { byOwnServer }, (content) =>
      attemptLoaded(parts, { ...message, content }, attempt, options),
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // Too many large emails are being sent: nothing was attempted, and the job stays due.
    if (error.type === 'unavailable' || error.type === 'rate_limited') return undefined
    return end({ status: 'failed', reason: error.message })
  }
}

const end: ToOutcome = (outcome, retryInMs) => ({
  retryInMs: retryInMs ?? null,
  reason: null,
  relayReply: null,
  queueId: null,
  event: null,
  inbox: null,
  mailServerId: null,
  waiting: null,
  ...outcome,
})

async function attemptLoaded(
  parts: AttemptParts,
  message: MessageToSend,
  attempt: number,
  { bulk = false, isInBroadcast = false, isHalted = never }: AttemptOptions,
): Promise<Outcome | undefined> {
  const { row, version, content } = message
  // The contact may have been erased, unsubscribed or bounced since the message was accepted.
  if (row.contactEmail === null && !row.isTest) return end({ status: 'suppressed', reason: erasedReason })
  const suppressed = ineligibleReason({ kind: row.flowKind, isTest: row.isTest }, row)
  if (suppressed) return end({ status: 'suppressed', reason: suppressed })

  const { senders, tokens } = parts
  // Covers messages accepted before the operator set or narrowed the sender domains.
  const sender = senderOfMessage(senders, row.organizationId, version, content)
  const from = sender instanceof Promise ? await sender : sender
  const found = senders.identityOf(row.organizationId, from.email)
  const { isAllowed, isVerified, signer, hosts, warmUp } = found instanceof Promise ? await found : found
  // An email that its broadcast sends was not accepted before.
  if (!(isInBroadcast ? isVerified : isAllowed))
    return end({ status: 'failed', reason: senderNotVerifiedReason(from.email) })

  const finding = parts.servers.load(row.organizationId)
  if (finding) await finding
  const servers = isDemoAddress(row.email) ? undefined : parts.servers.serversFor(row, from.email)
  const idHeaders = parts.settings.idHeaders?.(servers ? providersOf(servers) : noProviders)
  const context = { row, attempt, retryDelays: parts.retryDelays }
  const simulated = simulatedOutcome(row.email, attempt)
  const deliver = async (rendering: Rendering): Promise<Outcome | undefined> => {
    const section = currentSection()
    const compose = () => makeEmail(message, { tokens, from, idHeaders }, hosts, rendering)
    let write = compose
    if (content?.from ? hasManyLinks(content.html ?? '') : version.hasManyLinks) {
      // Not when a connection is free, because several may be at the same time.
      await nextTurn(row.organizationId)
      enterSection(section)
      const mail = compose()
      write = () => mail
    }
    if (simulated) return isHalted() || !write() ? undefined : outcomeOf(simulated, context)
    if (!servers) {
      const mail = write()
      const inbox = mail && (await inboxRow(parts.contents, row, mail))
      return inbox && end({ status: 'sent', relayReply: inboxReply, event: sentEvent(row), inbox })
    }
    const composeSigned = () => {
      // The mail server calls back once a connection is free.
      enterSection(section)
      const mail = isHalted() ? undefined : write()
      if (!mail) return undefined
      const { sender, recipient, raw } = mail
      const envelope = { from: sender, to: recipient }
      if (typeof raw === 'string') return { envelope, raw: { lines: signer ? signer.sign(raw, row.queuedAt) : raw } }
      return {
        envelope,
        raw: parts.contents.stream(row.organizationId, raw, signer && { signer, time: row.queuedAt }),
      }
    }
    const onOutcome = (carried: Carried) => reportDeferral(parts, row, carried)
    const only = onlyUnlimited(servers, warmUp)
    const carried = only
      ? { kind: 'carried' as const, server: only, outcome: await only.send(composeSigned, { bulk }) }
      : await sendThrough(servers, composeSigned, {
          bulk,
          movesOn: row.flowKind === 'transactional',
          onOutcome,
          take: (server) => takeLimits(parts, row, server, warmUp, isInBroadcast),
        })
    if (carried?.kind === 'limited') return waitForLimit(carried)
    if (!carried) return parts.servers.waitMsFor(row.organizationId) > 0 ? undefined : waitForServer(servers)
    const outcome = outcomeOf(carried.outcome, context)
    if (outcome) outcome.mailServerId = serverToStore(row, carried)
    return outcome
  }
  let needsTask = false
  try {
    if (content?.from) return await deliver({ body: () => content })
    const now = <Result>(result: Result | undefined) => {
      needsTask = result === undefined
      return result
    }
    // Light templates are rendered once a connection is free, so that waiting messages take no memory.
    const outcome = await deliver({
      body: (values) => now(parts.runner.bodyNow(version, values)),
      outputs: (values) => now(parts.runner.outputsNow(version, values)),
    })
    if (!needsTask) return outcome
    const body = await parts.runner.body(version, emailValues(row, parts.tokens, hosts), 'wait')
    return await deliver({ body: () => body })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error instanceof TaskProcessDied) return renderingDied({ attempt, retryDelays: parts.retryDelays })
    // A task process is unavailable: nothing was attempted, and the job stays due.
    if (error.type === 'unavailable') return undefined
    return end({ status: 'failed', reason: error.message })
  }
}

const never = () => false

/** Other emails of the organization can be sent, so this one waits alone. */
function waitForServer(servers: readonly OpenServer[]): Outcome {
  const states = servers.map((server) => server.state()).filter((state) => state.kind === 'down')
  const [first] = states.toSorted((a, b) => +a.nextTryAt - +b.nextTryAt)
  const retryInMs = Math.max(waitMsMin, first ? +first.nextTryAt - Date.now() : 0)
  return end(
    { status: 'queued', reason: serverDownReason, relayReply: first?.reason ?? null, waiting: 'server' },
    retryInMs,
  )
}

function waitForLimit({ refused }: Limited): Outcome {
  const { cause, limit, waitMs } = refused
  const detail = `${cause === 'daily_limit' ? 'daily limit' : 'limit per second'} of ${limit.name}`
  return end(
    { status: 'queued', reason: limitReason, relayReply: detail, waiting: limit.waitsInBroadcast ? 'limit' : 'site' },
    waitMs,
  )
}

/**
 * The server that carried the email. While it is queued, only one that may have accepted it already, because another one would
 * send it twice; that is kept until the email is sent, and the message cannot be cancelled (`hasBegun`).
 */
function serverToStore(row: SendRow, { server, outcome }: Carried): MailServerId | null {
  if (outcome.kind === 'interrupted') return outcome.maybeSent ? server.id : null
  if (outcome.kind === 'deferred') return null
  return server.organizationId === row.organizationId ? server.id : null
}

/** Of a large email, the inbox stores the start. */
async function inboxRow(contents: ContentStore, row: SendRow, { raw, ...mail }: OutgoingEmail): Promise<InboxRow> {
  const stored = typeof raw === 'string' ? { raw } : await contents.startOf(row.organizationId, raw)
  return { organizationId: row.organizationId, messageId: row.id, ...mail, ...stored }
}

type ToOutcome = (outcome: Partial<Outcome> & Pick<Outcome, 'status'>, retryInMs?: number) => Outcome
type OutcomeContext = { row: SendRow; attempt: number; retryDelays: readonly number[] }

/** The attempts of an email that the relay deferred count as well, so the limit is that of the longer schedule. */
function renderingDied({ attempt, retryDelays }: Omit<OutcomeContext, 'row'>): Outcome {
  if (attempt >= Math.max(renderRetryDelaysMs.length, retryDelays.length))
    return end({ status: 'failed', reason: 'the process that rendered this email ended unexpectedly, several times' })
  const delayMs = renderRetryDelaysMs[attempt] ?? renderRetryDelaysMs.at(-1)!
  return end({ status: 'queued', reason: 'rendering was interrupted' }, withJitter(delayMs))
}

function outcomeOf(outcome: SendOutcome, { row, attempt, retryDelays }: OutcomeContext): Outcome | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return end({ status: 'sent', relayReply: outcome.reply, queueId: outcome.queueId, event: sentEvent(row) })
    case 'refused': {
      // A rejected sender is a configuration problem and not a bounce.
      if (outcome.stage === 'sender')
        return end({ status: 'failed', reason: 'the mail server rejected the sender', relayReply: outcome.reply })
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
      const delay = retryDelays[attempt]
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
    case 'withdrawn':
      return undefined
  }
}

const withJitter = (ms: number) => Math.round(ms * (1 - jitter + 2 * jitter * Math.random()))
