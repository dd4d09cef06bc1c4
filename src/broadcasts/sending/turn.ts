import { selectStandings } from '../../audience/audience.ts'
import type { Db } from '../../platform/db/db.ts'
import type { EffectRecords } from '../../platform/queue/unrecorded.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import type { ContactId } from '../../platform/values/ids.ts'
import type { AttemptParts } from '../../sending/sending.ts'
import {
  type Chunk,
  type Part,
  type PendingRecipient,
  reserveRate,
  selectPending,
  updatePart,
} from '../ledger/parts.sql.ts'
import type { RecipientResult } from '../ledger/settle.ts'
import { type ChunkRecipient, WaitingRecipients } from '../ledger/waiting-recipients.ts'
import { chunkMax, chunkSizeOf } from './rate.ts'
import { type ChunkOfTurn, type Pending, RecipientAttempts, type RecipientInput } from './recipient-attempts.ts'
import type { Slots } from './slots.ts'

/** Recipients of a part that are read and not recorded yet. While they are being sent, the next chunk is read. */
const aheadMax = 2 * chunkMax
/** The relay defers everything: sending stops for a while instead of trying each recipient of the ledger. */
const deferralsMax = 20
/** Emails that were counted for a daily limit and not accepted make room for others. */
const limitWaitMsMax = 60_000

export type TurnParts = AttemptParts & {
  db: Db
  slots: Slots
  results: EffectRecords<RecipientResult>
}

export type TurnInput = RecipientInput & {
  part: Part
  /** No email is started after this time, */
  until: number
  /** or while this returns false. */
  isOpen: () => boolean
  /** Called for each email that bounced at once because the address does not exist. */
  onHardBounce: () => void
}

/**
 * done: every recipient of the part is recorded. lost: another worker continues. rate: the next chunk is due after a wait.
 * deferred: the relay defers all emails. unavailable: the relay or a task process is unavailable. over: the time is up or
 * the turn was halted.
 */
export type TurnEnd = { kind: 'done' | 'lost' | 'deferred' | 'unavailable' | 'over' } | { kind: 'rate'; waitMs: number }

type Failure = { kind: 'failed'; error: unknown }

/** `left`: how many of its recipients are not recorded. */
type OpenChunk = ChunkOfTurn & { recipients: readonly ChunkRecipient[]; left: number }

/**
 * Sends the recipients of a part in chunks until the time is up. The start of each chunk is committed before its emails are
 * sent, because their ids depend on its time; after a crash the chunk is repeated with the same ids, for the recipients
 * that are not recorded.
 */
export class Turn {
  readonly #parts: TurnParts
  readonly #input: TurnInput
  readonly #waiting: WaitingRecipients
  readonly #attempts: RecipientAttempts
  #part: Part
  #open: OpenChunk[] = []
  #outstanding = 0
  #deferrals = 0
  /** draining: no email is started, and those that were are sent. stopped: only those that are being transferred are. */
  #state: 'running' | 'draining' | 'stopped' = 'running'
  #end: TurnEnd | Failure | undefined
  #wake: () => void = () => {}

  constructor(parts: TurnParts, input: TurnInput) {
    this.#parts = parts
    this.#input = input
    this.#part = input.part
    this.#waiting = new WaitingRecipients(
      (ids) => selectStandings(parts.db, input.part.organizationId, ids),
      () => this.#open,
    )
    this.#attempts = new RecipientAttempts(parts, input, { waiting: this.#waiting, isHalted: () => this.#isHalted })
  }

  /** No further email is started. Emails that are being transferred are recorded. */
  halt(): void {
    this.#leave('stopped', { kind: 'over' })
  }

  /** The first reason counts, and the first error more than any. */
  #leave(state: 'draining' | 'stopped', end: TurnEnd | Failure): void {
    if (this.#state !== 'stopped') this.#state = state
    if (end.kind !== 'failed') this.#end ??= end
    else if (this.#end?.kind !== 'failed') this.#end = end
    this.#wake()
  }

  get #isHalted(): boolean {
    return this.#state === 'stopped' || Date.now() >= this.#input.until || !this.#input.isOpen()
  }

  get #mayStart(): boolean {
    return this.#state === 'running' && !this.#isHalted
  }

  /** Resolves when every email that was started is recorded. */
  async run(): Promise<TurnEnd> {
    let after = this.#part.afterContact
    for (const chunk of this.#part.chunks) {
      const readAt = performance.now()
      await this.#send(opened(chunk, await this.#read(after, chunk.to, chunkMax), readAt))
      after = chunk.to
    }
    while (this.#mayStart) {
      const chunk = await this.#nextChunk(after)
      if (!chunk) break
      await this.#send(chunk)
      after = chunk.to
      await this.#until(() => this.#outstanding <= aheadMax - chunkMax)
    }
    await this.#until(() => this.#outstanding === 0, true)
    const end = this.#end ?? { kind: 'over' }
    if (end.kind === 'failed') throw end.error
    return end
  }

  async #until(condition: () => boolean, always = false): Promise<void> {
    while (!condition() && (always || this.#mayStart))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  #read(after: ContactId, to: ContactId, limit: number): Promise<PendingRecipient[]> {
    return selectPending(this.#parts.db, this.#part, { after, to, limit })
  }

  /** Returns undefined if there is none, or if it may not be started now. */
  async #nextChunk(after: ContactId): Promise<OpenChunk | undefined> {
    const { broadcast } = this.#input
    const rate = broadcast.messagesPerHour
    const readAt = performance.now()
    const recipients = await this.#read(after, this.#part.toContact, chunkSizeOf(rate))
    if (recipients.length === 0) {
      await this.#until(() => this.#outstanding === 0)
      if (this.#outstanding === 0 && this.#open.every(({ left }) => left === 0))
        this.#leave('draining', { kind: 'done' })
      return undefined
    }
    const at = new Date()
    const chunk = opened({ to: recipients.at(-1)!.contactId, at }, recipients, readAt)
    const started = await this.#parts.db.begin(async (tx): Promise<TurnEnd | Part> => {
      const waitMs = rate === null ? 0 : await reserveRate(tx, broadcast, recipients.length, rate)
      if (waitMs > 0) return { kind: 'rate', waitMs }
      const part = this.#withChunk(chunk)
      // Otherwise the worker that took over would wait for the time of these emails.
      if (!(await updatePart(tx, part))) return tx.rollback({ kind: 'lost' })
      return { ...part, revision: part.revision + 1 }
    })
    if ('kind' in started) {
      // At the limit of the rate, the emails of the chunks before are still sent.
      this.#leave(started.kind === 'rate' ? 'draining' : 'stopped', started)
      return undefined
    }
    this.#part = started
    this.#open = this.#open.filter(({ to }) => to > started.afterContact)
    return chunk
  }

  /** The chunks before the first that is not completely recorded are done. */
  #withChunk(chunk: Chunk): Part {
    let afterContact = this.#part.afterContact
    const open = [...this.#open]
    while (open[0]?.left === 0) afterContact = open.shift()!.to
    return { ...this.#part, afterContact, chunks: [...open, chunk].map(({ to, at }) => ({ to, at })) }
  }

  /** Returns when the last recipient was started. Those that wait for a slot are rows, and take little memory. */
  async #send(chunk: OpenChunk): Promise<void> {
    const { slots, runner } = this.#parts
    const pacer = new Pacer(this.#input.broadcast.organizationId)
    this.#open.push(chunk)
    for (const recipient of chunk.recipients) {
      const turn = slots.take(this.#input.broadcast.organizationId) ?? (pacer.isDue ? pacer.turn() : undefined)
      if (turn) await turn
      if (!this.#mayStart) return slots.free()
      this.#outstanding++
      const sending = this.#sendOne(chunk, recipient)
      if (runner.isSlow(this.#input.versionFor(recipient.variant))) await sending
    }
  }

  async #sendOne(chunk: OpenChunk, recipient: ChunkRecipient): Promise<void> {
    try {
      const { results } = this.#parts
      const key = this.#keyOf(recipient)
      const unrecorded = results.find(key)
      if (unrecorded) this.#parts.slots.free()
      const attempted = unrecorded ?? (await this.#attempts.attempt(chunk, recipient))
      if ('pending' in attempted) return this.#stopFor(attempted)
      this.#count(attempted)
      await results.add(key, attempted)
      chunk.left--
    } catch (error) {
      this.#leave('stopped', { kind: 'failed', error })
    } finally {
      this.#outstanding--
      recipient.hasLeft = true
      this.#wake()
    }
  }

  #keyOf({ contactId }: ChunkRecipient): string {
    const { id, round } = this.#input.broadcast
    return `${id} ${round} ${contactId}`
  }

  /** What one email waits for concerns all of them. */
  #stopFor(why: Pending): void {
    if (why.pending === 'limit') this.#leave('draining', { kind: 'rate', waitMs: Math.min(why.waitMs, limitWaitMsMax) })
    else if (why.pending === 'unavailable' && !this.#isHalted) this.#leave('stopped', { kind: 'unavailable' })
  }

  #count({ status, message }: RecipientResult): void {
    const outcome = message?.outcome
    if (!outcome) return
    if (status !== 'queued' || outcome.waiting === 'site') this.#deferrals = 0
    else if (++this.#deferrals >= deferralsMax) this.#leave('stopped', { kind: 'deferred' })
    if (outcome.event?.eventName === 'emailHardBounce') this.#input.onHardBounce()
  }
}

const opened = (chunk: Chunk, recipients: readonly PendingRecipient[], readAt: number): OpenChunk => {
  return { ...chunk, recipients, left: recipients.length, readAt, identities: new Map() }
}
