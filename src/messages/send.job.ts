import { Batcher } from '../batcher.ts'
import { type Db, isRetryable } from '../db/db.ts'
import { Refusal } from '../errors.ts'
import type { BounceDetail } from '../event-types.ts'
import { derivedEventId, type NewEvent, recordEvents } from '../events/record.ts'
import type { ReadyVersion, TemplateCache } from '../flows/template-cache.ts'
import { classifyReply } from '../mail/bounce/classify-reply.ts'
import type { DkimSigner } from '../mail/dkim.ts'
import type { SendOutcome, Transport } from '../mail/transport.ts'
import type { Hints } from '../queue/hints.ts'
import type { Claim } from '../queue/queue.ts'
import type { WorkerSpec } from '../queue/worker.ts'
import type { Tokens } from '../tokens.ts'
import { suppressionReason } from './draft.ts'
import { type MailSettings, makeMail, type OutgoingMail } from './outgoing.ts'
import { findMessagesToSend, insertIntoInbox, type MessageChange, type SendRow, settleMessages } from './send.sql.ts'

export type SendParts = {
  db: Db
  hints: Hints
  templates: TemplateCache
  tokens: Tokens
  settings: MailSettings
  /** Undefined while no relay is set: mail then lands in the built-in inbox. */
  relay: Transport | undefined
  dkim: DkimSigner | undefined
  /** Seconds between tries of a mail that the relay defers. */
  retryDelays: readonly number[]
  inFlightMax: number
}

type Work = { row: SendRow; version: ReadyVersion }
type Ending = { change: MessageChange; row: SendRow; event: NewEvent | null; inbox: OutgoingMail | null }

const settleBatchMax = 500
const settleWaitingMax = 10_000
const settleTries = 5
const jitter = 0.1

/**
 * Sends queued messages. A message is handed to the relay at least once: a crash between the relay's 250 and our commit
 * sends it again, with the same Message-ID. What became of it is committed with the end of its job and its event.
 */
export function sendJob(parts: SendParts): WorkerSpec<Work> {
  const endings = new Batcher<Ending, void>({
    itemsMax: settleBatchMax,
    waitingMax: settleWaitingMax,
    concurrency: 2,
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
    load: (claims) => load(parts, claims),
    handle: async (claim, work) => {
      const ending = await send(parts, claim, work)
      if (!ending) return 'unchanged'
      await endings.add(ending)
      return 'well'
    },
  }
}

async function load({ db, templates }: SendParts, claims: Claim[]): Promise<(Work | undefined)[]> {
  const rows = new Map((await findMessagesToSend(db, claims)).map((row) => [row.id as string, row]))
  const versions = await templates.getAll(
    [...rows.values()].map(({ organizationId, flowVersionId: id }) => ({ organizationId, id })),
  )
  return claims.map(({ id }) => {
    const row = rows.get(id)
    const version = row && versions.get(row.flowVersionId)
    return version && { row, version }
  })
}

/** Undefined when the relay takes nothing now, so that nothing was tried. */
async function send(parts: SendParts, claim: Claim, { row, version }: Work): Promise<Ending | undefined> {
  const end = (
    change: Partial<MessageChange> & Pick<MessageChange, 'status'>,
    more: Partial<Ending> = {},
    retryInMs: number | null = null,
  ): Ending => ({
    change: { settlement: { claim, retryInMs }, reason: null, relayReply: null, queueId: null, ...change },
    row,
    event: null,
    inbox: null,
    ...more,
  })

  // Somebody may have unsubscribed or bounced since the message was accepted.
  const suppressed = suppressionReason({ kind: row.flowKind }, row, row.isTest)
  if (suppressed) return end({ status: 'suppressed', reason: suppressed })

  let mail: OutgoingMail
  try {
    mail = makeMail(row, version, parts.tokens, parts.settings)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return end({ status: 'failed', reason: error.message })
  }
  if (!parts.relay)
    return end({ status: 'sent', relayReply: 'kept in the built-in inbox' }, { event: sentEvent(row), inbox: mail })

  const raw = parts.dkim ? parts.dkim.sign(mail.raw) : mail.raw
  const outcome = await parts.relay.send({ from: mail.sender, to: mail.recipient }, raw)
  return endingOf(outcome, { row, claim, retryDelays: parts.retryDelays, end })
}

type EndingContext = {
  row: SendRow
  claim: Claim
  retryDelays: readonly number[]
  end: (
    change: Partial<MessageChange> & Pick<MessageChange, 'status'>,
    more?: Partial<Ending>,
    retryInMs?: number | null,
  ) => Ending
}

function endingOf(outcome: SendOutcome, { row, claim, retryDelays, end }: EndingContext): Ending | undefined {
  switch (outcome.kind) {
    case 'accepted':
      return end({ status: 'sent', relayReply: outcome.reply, queueId: outcome.queueId }, { event: sentEvent(row) })
    case 'refused': {
      // A refused sender is our fault, not the contact's: nothing bounced.
      if (outcome.stage === 'sender')
        return end({ status: 'failed', reason: 'the relay refused the sender', relayReply: outcome.reply })
      const { kind, reason } = classifyReply({
        replyCode: outcome.replyCode,
        status: outcome.status,
        text: outcome.reply,
      })
      const { replyCode, status, reply } = outcome
      const bounce = { type: kind, status, reply_code: replyCode, reason, diagnostic: reply }
      return end({ status: 'bounced', reason, relayReply: reply }, { event: bounceEvent(row, bounce) })
    }
    case 'deferred':
    case 'interrupted': {
      const words = outcome.kind === 'deferred' ? outcome.reply : outcome.because
      const delay = retryDelays[claim.attempt]
      if (delay !== undefined)
        return end({ status: 'queued', reason: 'deferred', relayReply: words }, {}, withJitter(delay * 1000))
      const { status, replyCode } = outcome.kind === 'deferred' ? outcome : { status: null, replyCode: null }
      const bounce = {
        type: 'soft' as const,
        status,
        reply_code: replyCode,
        reason: 'given up after repeated deferrals',
        diagnostic: words,
      }
      return end({ status: 'bounced', reason: bounce.reason, relayReply: words }, { event: bounceEvent(row, bounce) })
    }
    case 'unreachable':
      return undefined
  }
}

const withJitter = (ms: number) => Math.round(ms * (1 - jitter + 2 * jitter * Math.random()))

function eventOf(row: SendRow, what: string, event: Pick<NewEvent, 'eventName' | 'data'>): NewEvent {
  const { organizationId, id: messageId, flowId, contactId } = row
  const at = { id: derivedEventId(messageId, what), occurredAt: new Date(), machine: false, machineReason: null }
  return { ...at, organizationId, messageId, flowId, contactId, ...event }
}
const sentEvent = (row: SendRow) => eventOf(row, 'sent', { eventName: 'emailSent', data: {} })
/** The same event as when a bounce mail or a provider tells of it. */
function bounceEvent(row: SendRow, bounce: BounceDetail): NewEvent {
  const eventName = bounce.type === 'hard' ? 'emailHardBounce' : 'emailSoftBounce'
  return eventOf(row, eventName, { eventName, data: { bounce } })
}

async function settle({ db, hints }: SendParts, endings: Ending[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.begin(async (tx) => {
        const ours = await settleMessages(
          tx,
          endings.map(({ change }) => change),
        )
        const settled = endings.filter(({ row }) => ours.has(row.id))
        const inbox = settled.flatMap(({ row, inbox }) =>
          inbox ? [{ organizationId: row.organizationId, messageId: row.id, ...inbox }] : [],
        )
        const events = settled.flatMap(({ event }) => event ?? [])
        if (inbox.length > 0) await insertIntoInbox(tx, inbox)
        if (events.length > 0) await recordEvents(tx, events)
      })
      break
    } catch (error) {
      if (!isRetryable(error) || attempt === settleTries) throw error
    }
  }
  hints.give('webhook.deliver')
}
