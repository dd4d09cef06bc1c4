import { erasedReason, ineligibleReason } from '../../audience/audience.ts'
import { draftValues, type EmailDraft, type ReadyVersion, type TemplateValues } from '../../content/content.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type BroadcastId, type ContactId, derivedId, type MessageId } from '../../platform/values/ids.ts'
import {
  type AttemptParts,
  attemptMessage,
  findIdentity,
  isSkip,
  type Outcome,
  type SendingIdentity,
  type SendRow,
  type Skip,
} from '../../sending/sending.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import type { Chunk, PendingRecipient } from '../ledger/parts.sql.ts'
import { type RecipientResult, statusOf } from '../ledger/settle.ts'
import type { ChunkRecipient, WaitingRecipients } from '../ledger/waiting-recipients.ts'
import type { FlowOfBroadcast } from '../results/flow-of-broadcast.sql.ts'
import { utmQueryFor, type VersionFor } from '../variants.ts'
import type { Slots } from './slots.ts'

export type RecipientInput = {
  broadcast: Broadcast
  flow: FlowOfBroadcast
  /** The version for the variant of a recipient. */
  versionFor: VersionFor
}

/** `readAt`: when its rows were read, on the clock of the process. `identities`: as whom the emails of its versions leave. */
export type ChunkOfTurn = Chunk & { readAt: number; identities: Map<ReadyVersion, SendingIdentity> }

/**
 * Why a recipient stays pending. unavailable: the mail servers or a task process are. limit: no further email may be started until
 * the time has passed.
 */
export type Pending = { pending: 'halted' | 'unavailable' } | { pending: 'limit'; waitMs: number }

/** Sends the emails of a turn to single recipients, after checking that they may get them. */
export class RecipientAttempts {
  readonly #parts: AttemptParts & { slots: Slots }
  readonly #input: RecipientInput
  readonly #waiting: WaitingRecipients
  readonly #isHalted: () => boolean
  readonly #contextText: string
  /** By variant. */
  readonly #utmQueries = new Map<number | null, string | undefined>()

  constructor(
    parts: AttemptParts & { slots: Slots },
    input: RecipientInput,
    { waiting, isHalted }: { waiting: WaitingRecipients; isHalted: () => boolean },
  ) {
    this.#parts = parts
    this.#input = input
    this.#waiting = waiting
    this.#isHalted = isHalted
    this.#contextText = JSON.stringify(input.broadcast.context)
  }

  /** Starts with a slot and frees it. */
  async attempt(chunk: ChunkOfTurn, recipient: ChunkRecipient): Promise<RecipientResult | Pending> {
    // Asked right before the email leaves.
    const holdBack = (): Skip | undefined => {
      if (this.#isHalted()) return halted
      if (!this.#waiting.areRecent(chunk) || this.#suppressionOf(recipient)) return stale
      recipient.hasLeft = true
      return undefined
    }
    try {
      let message: { row: SendRow; version: ReadyVersion } | undefined
      for (;;) {
        if (!this.#waiting.areRecent(chunk)) await this.#waiting.refresh()
        const suppression = this.#suppressionOf(recipient)
        if (suppression) return this.#unsent(recipient, suppression)
        if (!message) {
          const version = this.#input.versionFor(recipient.variant)
          const values = this.#valuesFor(recipient)
          const { runner } = this.#parts
          const draft = runner.draftNow(version, values) ?? (await runner.draft(version, values))
          const { missing } = draft
          if (missing.length > 0)
            return this.#unsent(recipient, { status: 'failed', reason: `missing variables: ${missing.join(', ')}` })
          message = { row: this.#rowOf(chunk, recipient, version, draft), version }
        }
        let identity = chunk.identities.get(message.version)
        if (!identity) {
          identity = await findIdentity(this.#parts, message)
          chunk.identities.set(message.version, identity)
        }
        const options = { bulk: true, isInBroadcast: true, identity, holdBack }
        const outcome = await attemptMessage(this.#parts, message, 0, options)
        if (!isSkip(outcome)) return this.#resultOf(message.row, outcome)
        if (outcome.skip !== 'stale') return { pending: outcome.skip === 'halted' ? 'halted' : 'unavailable' }
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return error.type === 'unavailable'
        ? { pending: 'unavailable' }
        : this.#unsent(recipient, { status: 'failed', reason: error.message })
    } finally {
      this.#parts.slots.free()
    }
  }

  #valuesFor({ email, firstName, lastName, attributes }: PendingRecipient): TemplateValues {
    const contact = { email: email!, firstName, lastName, attributes: attributes ?? {} }
    return draftValues(contact, this.#input.flow.organizationName, this.#input.broadcast.context)
  }

  #rowOf({ at }: Chunk, recipient: PendingRecipient, version: ReadyVersion, draft: EmailDraft): SendRow {
    const { broadcast, flow } = this.#input
    const { organizationId, id: broadcastId, flowId, round, context } = broadcast
    const { contactId, firstName } = recipient
    const email = recipient.email!
    const utm = this.#utmQueryFor(version, recipient.variant)
    if (utm !== undefined) draft.recipient.utm = utm
    return {
      organizationId,
      id: messageIdOf(broadcastId, contactId, round, at),
      flowId: flowId!,
      flowVersionId: version.id,
      flowKind: flow.kind,
      contactId,
      contactEmail: email,
      contactFirstName: firstName,
      email,
      subject: draft.subject,
      context,
      isTest: false,
      broadcastId,
      queuedAt: at,
      isScheduled: false,
      recipient: draft.recipient,
      subscription: recipient.subscription,
      suppressedBy: recipient.suppressedBy,
      contentId: null,
      tags: null,
      mailServerId: null,
      hasWaited: false,
    }
  }

  /** Returns the result of a recipient that may not get the email, as far as is known now. */
  #suppressionOf(recipient: PendingRecipient): Pick<RecipientResult, 'status' | 'reason'> | undefined {
    if (recipient.email === null) return erased
    const reason = ineligibleReason(this.#input.flow, recipient)
    return reason === null ? undefined : { status: statusOf('suppressed', reason), reason }
  }

  #unsent({ contactId }: PendingRecipient, why: Pick<RecipientResult, 'status' | 'reason'>): RecipientResult {
    const { organizationId, id: broadcastId } = this.#input.broadcast
    return { organizationId, broadcastId, contactId, message: null, ...why }
  }

  #utmQueryFor(version: ReadyVersion, variant: number | null): string | undefined {
    const known = this.#utmQueries.get(variant)
    if (known !== undefined || this.#utmQueries.has(variant)) return known
    const query = utmQueryFor(this.#input.broadcast, version, variant)
    this.#utmQueries.set(variant, query)
    return query
  }

  #resultOf(row: SendRow, outcome: Outcome): RecipientResult | Pending {
    if (outcome.waiting === 'server') return { pending: 'unavailable' }
    if (outcome.waiting === 'limit') return { pending: 'limit', waitMs: outcome.retryInMs! }
    // An email that the relay never saw needs no message: the ledger has the reason.
    const hasMessage = outcome.relayReply !== null || outcome.status === 'queued'
    const recipient = Object.keys(row.recipient ?? {}).length === 0 ? null : JSON.stringify(row.recipient)
    return {
      organizationId: row.organizationId,
      broadcastId: row.broadcastId!,
      contactId: row.contactId,
      status: outcome.status,
      reason: outcome.reason,
      message: hasMessage ? { row, outcome, context: this.#contextText, recipient } : null,
    }
  }
}

const halted = { skip: 'halted' } as const
const stale = { skip: 'stale' } as const
const erased = { status: 'suppressed', reason: erasedReason } as const

/**
 * The id of a message depends only on its recipient and the time of its chunk, so that an email that is sent again after a
 * crash has the same Message-ID.
 */
const messageIdOf = (broadcastId: BroadcastId, contactId: ContactId, round: number, at: Date): MessageId =>
  derivedId('msg', at.getTime(), broadcastId, contactId, String(round))
