/** Limits how many emails of broadcasts this process has in flight. Those that wait are served in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []
  #first = 0

  constructor(count: number) {
    this.#free = count
  }

  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  free(): void {
    const next = this.#waiting[this.#first]
    if (!next) {
      this.#free++
      return
    }
    this.#first++
    // Removing the first element each time would move all others.
    if (this.#first === this.#waiting.length || this.#first > 1_000) {
      this.#waiting.splice(0, this.#first)
      this.#first = 0
    }
    next()
  }
}
