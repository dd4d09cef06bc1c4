import { Gauge, type Registry } from 'prom-client'
import { within } from './within.ts'

/** Other metrics matter most while what is measured does not respond. */
const answerWithinMs = 1_000

/**
 * Registers a gauge that is read at each scrape. It is left out of the scrape if `read` returns undefined, fails or takes
 * too long: no alert compares NaN as intended.
 */
export function measure(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | undefined | Promise<number | undefined>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await within(answerWithinMs, Promise.resolve().then(read)).catch(() => undefined)
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}
