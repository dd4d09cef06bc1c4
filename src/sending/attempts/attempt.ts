import type { Mail, MailSource, SendOutcome } from '@waxwing/smtp-client'
import { erasedReason, ineligibleReason } from '../../audience/audience.ts'
import { hasManyLinks, type ReadyVersion, type TemplateRunner } from '../../content/content.ts'
import {
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
import { lacksText } from '../attachments/content.ts'
import type { ContentStore } from '../attachments/content-store.ts'
import { type InboxRow, inboxReply } from '../inbox/inbox.ts'
import { onlyUnlimited, reportDeferral, takeLimits, waitForLimit, waitForServer } from './email-limits.ts'
import {
  end,
  isSkip,
  outcomeOf,
  renderingDied,
  type Skip,
  sentEvent,
  simulatedOutcome,
  unavailable,
} from './outcome.ts'
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
  /** If it was found before (`findIdentity`). */
  identity?: SendingIdentity
  /** Asked right before the email leaves. It stays if a reason is returned. */
  holdBack?: () => Skip | undefined
}

/** Composes an email and passes it to a mail server. The memory of large emails is limited. */
export async function attemptMessage(
  parts: AttemptParts,
  given: MessageToSend,
  attempt: number,
  options: AttemptOptions = {},
): Promise<Outcome | Skip> {
  if (!given.content?.isLarge && !(given.content && lacksText(given.content)))
    return attemptLoaded(parts, given, attempt, options)
  const { organizationId } = given.row
  try {
    // Before it takes memory of large emails, which others wait for.
    const content = await parts.contents.withText(given.content)
    const message = { ...given, content }
    if (!content.isLarge) return await attemptLoaded(parts, message, attempt, options)
    await parts.servers.load(organizationId)
    const byOwnServer = parts.servers.hasServers(organizationId)
    return await parts.contents.whole(content, { byOwnServer }, (whole) =>
      attemptLoaded(parts, { ...message, content: whole }, attempt, options),
    )
  } catch (error) {
    return withoutAttempt(error, { message: given, number: attempt, retryDelays: parts.retryDelays })
  }
}

/** What becomes of an email that could not be composed. Other errors than refusals are thrown. */
function withoutAttempt(error: unknown, tried: Parameters<typeof renderingDied>[0]): Outcome | Skip {
  if (!(error instanceof Refusal)) throw error
  if (error instanceof TaskProcessDied) return renderingDied(tried)
  // The task processes are busy, or too many large emails are being sent: the job stays due.
  if (error.type === 'unavailable' || error.type === 'rate_limited') return unavailable
  return end({ status: 'failed', reason: error.message })
}

/** As whom emails of a version leave. */
export type SendingIdentity = Awaited<ReturnType<Senders['identityOf']>> & {
  from: Awaited<ReturnType<typeof senderOfMessage>>
}

/** Must be awaited before an attempt. It is the same for all emails of a version. */
export async function findIdentity(
  { senders, servers }: AttemptParts,
  message: MessageToSend,
): Promise<SendingIdentity> {
  const { row, version, content } = message
  await servers.load(row.organizationId)
  const from = await senderOfMessage(senders, row.organizationId, version, content)
  return { from, ...(await senders.identityOf(row.organizationId, from.email)) }
}

type Attempt = { message: MessageToSend; identity: SendingIdentity; number: number; retryDelays: readonly number[] }

/** Five steps: may it be sent, as whom, by which way, what does it say, and what became of it. */
async function attemptLoaded(
  parts: AttemptParts,
  message: MessageToSend,
  number: number,
  options: AttemptOptions,
): Promise<Outcome | Skip> {
  const { row, version, content } = message
  const suppressed = suppressionOf(row)
  if (suppressed) return end({ status: 'suppressed', reason: suppressed })

  const identity = options.identity ?? (await findIdentity(parts, message))
  // Covers messages accepted before the operator set or narrowed the sender domains. What a broadcast sends was not accepted before.
  if (!(options.isInBroadcast ? identity.isVerified : identity.isAllowed))
    return end({ status: 'failed', reason: senderNotVerifiedReason(identity.from.email) })
  const attempt = { message, identity, number, retryDelays: parts.retryDelays }

  const { from, hosts, warmUp } = identity
  const servers = isDemoAddress(row.email) ? undefined : parts.servers.serversFor(row, from.email)
  const only = servers && onlyUnlimited(servers, warmUp)
  const simulated = simulatedOutcome(row.email, number)

  const section = currentSection()
  const idHeaders = parts.settings.idHeaders?.(servers ? providersOf(servers) : noProviders)
  const making = { tokens: parts.tokens, from, idHeaders }
  try {
    // Light templates are rendered once a connection is free, so that waiting messages take no memory.
    let rendering = content?.from ? { body: () => content } : lightRendering(parts.runner, version)
    for (;;) {
      const compose = () => makeEmail(message, making, hosts, rendering)
      let composed: ReturnType<typeof compose> | undefined
      if (takesLong(message)) {
        // Not when a connection is free, because several may be at the same time.
        await nextTurn(row.organizationId)
        enterSection(section)
        composed = compose()
      }
      const leave = () => options.holdBack?.() ?? composed ?? compose()
      const leaveThroughServer = () => {
        // The mail server calls back once a connection is free.
        enterSection(section)
        const email = leave()
        return isSkip(email) ? email : mailOf(parts, attempt, email)
      }
      const outcome =
        simulated || !servers
          ? await keep(parts, attempt, leave(), simulated)
          : only
            ? outcomeThrough(only, await only.send(leaveThroughServer, options), attempt)
            : await sendLimited(parts, attempt, servers, leaveThroughServer, options)
      if (!isSkip(outcome) || outcome.skip !== 'needs task') return outcome
      const body = await parts.runner.body(version, emailValues(row, parts.tokens, hosts), 'wait')
      rendering = { body: () => body }
    }
  } catch (error) {
    return withoutAttempt(error, attempt)
  }
}

/** The contact may have been erased, unsubscribed or bounced since the message was accepted. */
const suppressionOf = (row: SendRow): string | null =>
  row.contactEmail === null && !row.isTest
    ? erasedReason
    : ineligibleReason({ kind: row.flowKind, isTest: row.isTest }, row)

const lightRendering = (runner: TemplateRunner, version: ReadyVersion): Rendering => ({
  body: (values) => runner.bodyNow(version, values),
  outputs: (values) => runner.outputsNow(version, values),
})

const takesLong = ({ version, content }: MessageToSend): boolean =>
  content?.from ? hasManyLinks(content.html ?? '') : version.hasManyLinks === true

/** Stores an email in the built-in inbox, unless the answer of a mail server is simulated. */
async function keep(
  { contents }: AttemptParts,
  attempt: Attempt,
  email: OutgoingEmail | Skip,
  simulated: SendOutcome | undefined,
): Promise<Outcome | Skip> {
  if (isSkip(email)) return email
  if (simulated) return outcomeOf(simulated, attempt)
  const { row } = attempt.message
  return end({
    status: 'sent',
    relayReply: inboxReply,
    event: sentEvent(row),
    inbox: await inboxRow(contents, row, email),
  })
}

async function sendLimited(
  parts: AttemptParts,
  attempt: Attempt,
  servers: readonly OpenServer[],
  mail: MailSource,
  { bulk = false, isInBroadcast = false }: AttemptOptions,
): Promise<Outcome | Skip> {
  const { row } = attempt.message
  const carried = await sendThrough(servers, mail, {
    bulk,
    movesOn: row.flowKind === 'transactional',
    onOutcome: (each) => reportDeferral(parts, row, each),
    take: (server) => takeLimits(parts, row, server, attempt.identity.warmUp, isInBroadcast),
  })
  if (!carried) return parts.servers.waitMsFor(row.organizationId) > 0 ? unavailable : waitForServer(servers)
  return carried.kind === 'limited' ? waitForLimit(carried) : outcomeThrough(carried.server, carried.outcome, attempt)
}

function outcomeThrough(server: OpenServer, sent: SendOutcome, attempt: Attempt): Outcome | Skip {
  const outcome = outcomeOf(sent, attempt)
  if (!isSkip(outcome)) outcome.mailServerId = serverToStore(attempt.message.row, server, sent)
  return outcome
}

function mailOf(
  { contents }: AttemptParts,
  { message, identity }: Attempt,
  { sender, recipient, raw }: OutgoingEmail,
): Mail {
  const { organizationId, queuedAt: time } = message.row
  const { signer } = identity
  const envelope = { from: sender, to: recipient }
  if (typeof raw === 'string') return { envelope, raw: { lines: signer ? signer.sign(raw, time) : raw } }
  return { envelope, raw: contents.stream(organizationId, raw, signer && { signer, time }) }
}

/**
 * The server that carried the email. While it is queued, only one that may have accepted it already, because another one would
 * send it twice; that is kept until the email is sent, and the message cannot be cancelled (`hasBegun`).
 */
function serverToStore(row: SendRow, server: OpenServer, outcome: SendOutcome): MailServerId | null {
  if (outcome.kind === 'interrupted') return outcome.maybeSent ? server.id : null
  if (outcome.kind === 'deferred') return null
  return server.organizationId === row.organizationId ? server.id : null
}

/** Of a large email, the inbox stores the start. */
async function inboxRow(contents: ContentStore, row: SendRow, { raw, ...mail }: OutgoingEmail): Promise<InboxRow> {
  const stored = typeof raw === 'string' ? { raw } : await contents.startOf(row.organizationId, raw)
  return { organizationId: row.organizationId, messageId: row.id, ...mail, ...stored }
}
