import type { Registry } from 'prom-client'
import type { Count, FromSendingProcess, ToSendingProcess } from './protocol.ts'

const countEveryMs = 1_000

/** In a sending process: the service that started it. Calls `onMessage` for each message, and with `stop` if it is gone. */
export function listenToParent(onMessage: (message: ToSendingProcess) => void): void {
  // Ctrl-C signals the whole process group. The service tells its processes when to stop.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  process.on('message', onMessage)
  process.on('disconnect', () => onMessage({ kind: 'stop' }))
}

export const tellParent = (message: FromSendingProcess): void => {
  // It may be gone.
  if (process.connected) process.send?.(message, () => {})
}

/** Reports the increments of all counters to the service, which adds them to its own. */
export class CountReport {
  readonly #registry: Registry
  readonly #reported = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  constructor(registry: Registry) {
    this.#registry = registry
    this.#timer = setInterval(() => void this.#send(), countEveryMs)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#send()
  }

  async #send(): Promise<void> {
    const counts: Count[] = []
    for (const { name, type, values } of await this.#registry.getMetricsAsJSON()) {
      if ((type as unknown) !== 'counter') continue
      for (const { labels, value } of values as unknown as { labels: Count['labels']; value: number }[]) {
        const key = JSON.stringify([name, labels])
        const by = value - (this.#reported.get(key) ?? 0)
        this.#reported.set(key, value)
        if (by > 0) counts.push({ name, labels, by })
      }
    }
    tellParent({ kind: 'counted', counts, memoryBytes: process.memoryUsage.rss() })
  }
}
