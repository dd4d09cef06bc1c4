import type { MailSource, SendOptions, SendOutcome } from './transport.ts'

export type QueuedEmail = {
  mail: MailSource
  bulk: boolean
  /** How often it was given to a connection that turned out to be closed. */
  tries: number
  resolve: (outcome: SendOutcome) => void
  reject: (error: unknown) => void
}

/** Emails that wait for a connection. Counts them and those on a connection until they have an outcome. */
export class EmailQueue {
  #waiting: QueuedEmail[] = []
  /** Emails that wait until `#waiting` is empty. */
  #bulkWaiting: QueuedEmail[] = []
  #inFlight = 0
  #bulkInFlight = 0
  #onEmpty: (() => void) | undefined

  get waiting(): number {
    return this.#waiting.length + this.#bulkWaiting.length
  }

  inFlight({ bulk = false }: SendOptions): number {
    return bulk ? this.#bulkInFlight : this.#inFlight
  }

  /** Returns the outcome. */
  add(mail: QueuedEmail['mail'], bulk: boolean): Promise<SendOutcome> {
    if (bulk) this.#bulkInFlight++
    else this.#inFlight++
    return new Promise((resolve, reject) => {
      this.#queueOf(bulk).push({ mail, bulk, tries: 0, resolve, reject })
    })
  }

  next(): QueuedEmail | undefined {
    return this.#waiting.shift() ?? this.#bulkWaiting.shift()
  }

  putBack(email: QueuedEmail): void {
    this.#queueOf(email.bulk).unshift(email)
  }

  resolve(email: QueuedEmail, outcome: SendOutcome): void {
    this.#leave(email)
    email.resolve(outcome)
  }

  reject(email: QueuedEmail, error: unknown): void {
    this.#leave(email)
    email.reject(error)
  }

  /** Resolves every email that waits. */
  resolveWaiting(outcome: SendOutcome): void {
    const waiting = [...this.#waiting, ...this.#bulkWaiting]
    this.#waiting = []
    this.#bulkWaiting = []
    for (const email of waiting) this.resolve(email, outcome)
  }

  /** Waits until every email has its outcome, or for `limitMs`. */
  async empty(limitMs: number): Promise<void> {
    if (this.#inFlight + this.#bulkInFlight === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs)
      this.#onEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #queueOf(bulk: boolean): QueuedEmail[] {
    return bulk ? this.#bulkWaiting : this.#waiting
  }

  #leave({ bulk }: QueuedEmail): void {
    if (bulk) this.#bulkInFlight--
    else this.#inFlight--
    if (this.#inFlight + this.#bulkInFlight === 0) this.#onEmpty?.()
  }
}
