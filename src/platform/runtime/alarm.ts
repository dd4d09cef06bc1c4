/** A sleep that can be ended from outside. Waking it while nobody sleeps ends the next sleep at once. */
export class Alarm {
  #woken = false
  #endSleep: () => void = () => {}

  wake(): void {
    this.#woken = true
    this.#endSleep()
  }

  /** Resolves after `ms`, or when woken. */
  async sleep(ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined
        this.#endSleep = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#endSleep = () => {}
    this.#woken = false
  }
}
