import { selectStandings } from '../../audience/audience.ts'
import type { ItemBatcher } from '../../platform/db/cluster/batches.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
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
import { WaitingRecipients } from '../ledger/waiting-recipients.ts'
import { chunkMax, chunkSizeOf } from './rate.ts'
import { RecipientAttempts, type RecipientInput } from './recipient-attempts.ts'
import type { Slots } from './slots.ts'

/** Recipients of a part that are read and not recorded yet. While they are being sent, the next chunk is read. */
const aheadMax = 2 * chunkMax

export type TurnParts = AttemptParts & {
  db: Db
  slots: Slots
  results: ItemBatcher<RecipientResult, void>
}

export type TurnInput = RecipientInput & {
  part: Part
  /** No email is started after this time, */
  until: number
  /** or while this returns false. */
  isOpen: () => boolean
}

/**
 * done: every recipient of the part is recorded. lost: another worker continues. rate: the next chunk is due after a wait.
 * deferred: the relay defers all emails. unavailable: the relay or a task process is unavailable. over: the time is up or
 * the turn was halted.
 */
export type TurnEnd = { kind: 'done' | 'lost' | 'deferred' | 'unavailable' | 'over' } | { kind: 'rate'; waitMs: number }

/** `readAt`: when its rows were read, on the clock of the process. */
type OpenChunk = Chunk & { left: number; readAt: number }

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
  #end: TurnEnd | undefined
  #isStopped = false
  #startsNoMore = false
  #fault: unknown
  #wake: () => void = () => {}

  constructor(parts: TurnParts, input: TurnInput) {
    this.#parts = parts
    this.#input = input
    this.#part = input.part
    this.#waiting = new WaitingRecipients((ids) => selectStandings(parts.db, input.part.organizationId, ids))
    this.#attempts = new RecipientAttempts(parts, input, {
      waiting: this.#waiting,
      isHalted: this.#isHalted,
      stop: (end) => this.#stop(end),
      startNoMore: (waitMs) => this.#startNoMore(waitMs),
    })
  }

  /** No further email is started. Emails that are being transferred are recorded. */
  halt(): void {
    this.#stop({ kind: 'over' })
  }

  readonly #isHalted = () => this.#isStopped || Date.now() >= this.#input.until || !this.#input.isOpen()

  #stop(end: TurnEnd): void {
    this.#end ??= end
    this.#isStopped = true
    this.#wake()
  }

  /** A limit is reached. Emails that are within it are still sent. */
  #startNoMore(waitMs: number): void {
    this.#end ??= { kind: 'rate', waitMs: Math.min(waitMs, limitWaitMsMax) }
    this.#startsNoMore = true
    this.#wake()
  }

  get #mayStart(): boolean {
    return !this.#startsNoMore && !this.#isHalted()
  }

  /** Resolves when every email that was started is recorded. */
  async run(): Promise<TurnEnd> {
    const repeated = this.#part.chunks
    let after = this.#part.afterContact
    this.#open = repeated.map((chunk) => ({ ...chunk, left: 0, readAt: 0 }))
    for (const chunk of this.#open) {
      chunk.readAt = performance.now()
      await this.#send(chunk, await this.#read(after, chunk.to, chunkMax))
      after = chunk.to
    }
    while (this.#mayStart) {
      const next = await this.#nextChunk(after)
      if (!next) break
      await this.#send(next.chunk, next.recipients)
      after = next.chunk.to
      await this.#until(() => this.#outstanding <= aheadMax - chunkMax)
    }
    await this.#until(() => this.#outstanding === 0, true)
    if (this.#fault) throw this.#fault
    return this.#end ?? { kind: 'over' }
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
  async #nextChunk(after: ContactId): Promise<{ chunk: OpenChunk; recipients: PendingRecipient[] } | undefined> {
    const { broadcast } = this.#input
    const rate = broadcast.messagesPerHour
    const readAt = performance.now()
    const recipients = await this.#read(after, this.#part.toContact, chunkSizeOf(rate))
    if (recipients.length === 0) {
      await this.#until(() => this.#outstanding === 0)
      if (this.#outstanding === 0 && this.#open.every(({ left }) => left === 0)) this.#end ??= { kind: 'done' }
      return undefined
    }
    const at = new Date()
    const chunk = { to: recipients.at(-1)!.contactId, at, left: 0, readAt }
    const reserve = async (tx: Tx): Promise<TurnEnd | Part> => {
      const waitMs = rate === null ? 0 : await reserveRate(tx, broadcast, recipients.length, rate)
      if (waitMs > 0) return { kind: 'rate', waitMs }
      const part = this.#withChunk(chunk)
      // Rolls back: the worker that took over would wait for the time of these emails.
      if (!(await updatePart(tx, part))) throw new LostPart()
      return { ...part, revision: part.revision + 1 }
    }
    const started = await this.#parts.db.begin(reserve).catch((error: unknown): TurnEnd => {
      if (error instanceof LostPart) return { kind: 'lost' }
      throw error
    })
    if ('kind' in started) {
      // At the limit of the rate, the emails of the chunks before are still sent.
      if (started.kind === 'rate') this.#end ??= started
      else this.#stop(started)
      return undefined
    }
    this.#part = started
    this.#open = this.#open.filter(({ to }) => to > started.afterContact)
    this.#open.push(chunk)
    return { chunk, recipients }
  }

  /** The chunks before the first that is not completely recorded are done. */
  #withChunk(chunk: Chunk): Part {
    let afterContact = this.#part.afterContact
    const open = [...this.#open]
    while (open[0]?.left === 0) afterContact = open.shift()!.to
    return { ...this.#part, afterContact, chunks: [...open, chunk].map(({ to, at }) => ({ to, at })) }
  }

  /** Returns when the last recipient was started. Those that wait for a slot are rows, and take little memory. */
  async #send(chunk: OpenChunk, recipients: PendingRecipient[]): Promise<void> {
    const { slots, runner } = this.#parts
    const pacer = new Pacer()
    chunk.left = recipients.length
    this.#waiting.add(recipients)
    for (const recipient of recipients) {
      const turn = slots.take(this.#input.broadcast.organizationId) ?? (pacer.isDue ? pacer.turn() : undefined)
      if (turn) await turn
      if (!this.#mayStart) return slots.free()
      this.#outstanding++
      const sending = this.#sendOne(chunk, recipient)
      if (runner.isSlow(this.#input.versionFor(recipient.variant))) await sending
    }
  }

  async #sendOne(chunk: OpenChunk, recipient: PendingRecipient): Promise<void> {
    try {
      const result = await this.#attempts.attempt(chunk, recipient)
      if (!result) return
      await this.#parts.results.add(result)
      chunk.left--
    } catch (error) {
      this.#fault ??= error
      this.#stop({ kind: 'over' })
    } finally {
      this.#outstanding--
      this.#waiting.delete(recipient)
      this.#wake()
    }
  }
}

/** Emails that were counted for a daily limit and not accepted make room for others. */
const limitWaitMsMax = 60_000

class LostPart extends Error {}
