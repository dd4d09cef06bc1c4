import { erasedReason, ineligibleReason } from '../../audience/audience.ts'
import { draftValues, type ReadyVersion } from '../../content/content.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type BroadcastId, type ContactId, derivedId, type MessageId } from '../../platform/values/ids.ts'
import { type AttemptParts, attemptMessage, type Outcome, type SendRow } from '../../sending/sending.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import type { PendingRecipient } from '../ledger/parts.sql.ts'
import { type RecipientResult, statusOf } from '../ledger/settle.ts'
import type { WaitingRecipients } from '../ledger/waiting-recipients.ts'
import type { FlowOfBroadcast } from '../results/flow-of-broadcast.sql.ts'
import { utmQueryFor, type VersionFor } from '../variants.ts'
import type { Slots } from './slots.ts'

/** The relay defers everything: sending stops for a while instead of trying each recipient of the ledger. */
const deferralsMax = 20

export type RecipientInput = {
  broadcast: Broadcast
  flow: FlowOfBroadcast
  /** The version for the variant of a recipient. */
  versionFor: VersionFor
  /** Called for each email that bounced at once because the address does not exist. */
  onHardBounce: () => void
}

/** The turn in which the recipients are sent to. */
export type SendingTurn = {
  waiting: WaitingRecipients
  isHalted: () => boolean
  /** deferred: the relay defers all emails. unavailable: the relay or a task process is unavailable. */
  stop: (end: { kind: 'deferred' | 'unavailable' }) => void
  /** No further email is started until this time has passed. */
  startNoMore: (waitMs: number) => void
}

/** `at`: when the chunk was started. `readAt`: when its rows were read, on the clock of the process. */
type ChunkTimes = { at: Date; readAt: number }

/** Sends the emails of a turn to single recipients, after checking that they may get them. */
export class RecipientAttempts {
  readonly #parts: AttemptParts & { slots: Slots }
  readonly #input: RecipientInput
  readonly #turn: SendingTurn
  readonly #contextText: string
  /** By variant. */
  readonly #utmQueries = new Map<number | null, string | undefined>()
  #deferrals = 0

  constructor(parts: AttemptParts & { slots: Slots }, input: RecipientInput, turn: SendingTurn) {
    this.#parts = parts
    this.#input = input
    this.#turn = turn
    this.#contextText = JSON.stringify(input.broadcast.context)
  }

  /** Starts with a slot and frees it. Returns undefined if nothing was attempted. */
  async attempt(chunk: ChunkTimes, recipient: PendingRecipient): Promise<RecipientResult | undefined> {
    const { organizationId, id: broadcastId, flowId, round } = this.#input.broadcast
    const { flow } = this.#input
    const { contactId } = recipient
    const key = { organizationId, broadcastId, contactId, message: null }
    try {
      const version = this.#input.versionFor(recipient.variant)
      if (!this.#turn.waiting.areRecent(chunk.readAt)) await this.#turn.waiting.refresh()
      const { email } = recipient
      const known = this.#suppressionOf(recipient)
      if (known || email === null) return { ...key, ...(known ?? erased) }
      const { firstName, lastName, attributes } = recipient
      const values = draftValues(
        { email, firstName, lastName, attributes: attributes ?? {} },
        flow.organizationName,
        this.#input.broadcast.context,
      )
      const drafting = this.#parts.runner.draft(version, values)
      const draft = drafting instanceof Promise ? await drafting : drafting
      if (draft.missing.length > 0)
        return { ...key, status: 'failed', reason: `missing variables: ${draft.missing.join(', ')}` }
      const utm = this.#utmQueryFor(version, recipient.variant)
      if (utm !== undefined) draft.recipient.utm = utm
      const row: SendRow = {
        organizationId,
        id: messageIdOf(broadcastId, contactId, round, chunk.at),
        flowId: flowId!,
        flowVersionId: version.id,
        flowKind: flow.kind,
        contactId,
        contactEmail: email,
        contactFirstName: recipient.firstName,
        email,
        subject: draft.subject,
        context: this.#input.broadcast.context,
        isTest: false,
        broadcastId,
        queuedAt: chunk.at,
        isScheduled: false,
        recipient: draft.recipient,
        subscription: recipient.subscription,
        suppressedBy: recipient.suppressedBy,
        contentId: null,
        tags: null,
        mailServerId: null,
        hasWaited: false,
      }
      for (;;) {
        let mustCheck = false
        const isHalted = () => {
          if (this.#turn.isHalted()) return true
          mustCheck = !this.#turn.waiting.areRecent(chunk.readAt) || this.#suppressionOf(recipient) !== undefined
          if (!mustCheck) this.#turn.waiting.delete(recipient)
          return mustCheck
        }
        const outcome = await attemptMessage(this.#parts, { row, version }, 0, {
          bulk: true,
          isInBroadcast: true,
          isHalted,
        })
        if (outcome?.waiting === 'server') {
          this.#turn.stop({ kind: 'unavailable' })
          return undefined
        }
        if (outcome?.waiting === 'limit') {
          this.#turn.startNoMore(outcome.retryInMs!)
          return undefined
        }
        if (outcome) return this.#resultOf(row, outcome)
        if (!mustCheck) {
          if (!this.#turn.isHalted()) this.#turn.stop({ kind: 'unavailable' })
          return undefined
        }
        if (!this.#turn.waiting.areRecent(chunk.readAt)) await this.#turn.waiting.refresh()
        const suppression = this.#suppressionOf(recipient)
        if (suppression) return { ...key, ...suppression }
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.type !== 'unavailable') return { ...key, status: 'failed', reason: error.message }
      this.#turn.stop({ kind: 'unavailable' })
      return undefined
    } finally {
      this.#parts.slots.free()
    }
  }

  /** Returns the result of a recipient that may not get the email, as far as is known now. */
  #suppressionOf(recipient: PendingRecipient): Pick<RecipientResult, 'status' | 'reason'> | undefined {
    if (recipient.email === null) return erased
    const reason = ineligibleReason(this.#input.flow, recipient)
    return reason === null ? undefined : { status: statusOf('suppressed', reason), reason }
  }

  #utmQueryFor(version: ReadyVersion, variant: number | null): string | undefined {
    const known = this.#utmQueries.get(variant)
    if (known !== undefined || this.#utmQueries.has(variant)) return known
    const query = utmQueryFor(this.#input.broadcast, version, variant)
    this.#utmQueries.set(variant, query)
    return query
  }

  #resultOf(row: SendRow, outcome: Outcome): RecipientResult {
    if (outcome.status !== 'queued' || outcome.waiting === 'site') this.#deferrals = 0
    else if (++this.#deferrals >= deferralsMax) this.#turn.stop({ kind: 'deferred' })
    if (outcome.event?.eventName === 'emailHardBounce') this.#input.onHardBounce()
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

const erased = { status: 'suppressed', reason: erasedReason } as const

/**
 * The id of a message depends only on its recipient and the time of its chunk, so that an email that is sent again after a
 * crash has the same Message-ID.
 */
const messageIdOf = (broadcastId: BroadcastId, contactId: ContactId, round: number, at: Date): MessageId =>
  derivedId('msg', at.getTime(), broadcastId, contactId, String(round))
