import ipaddr from 'ipaddr.js'

const windowMs = 60_000
// Beyond this many addresses in a minute the newcomers share one count.
const addressesMax = 10_000

/** Counts what each address does within a minute. IPv6 counts by /64, which is what one customer is given. */
export class RateWindow {
  readonly #perMinute: number
  #counts = new Map<string, number>()
  #startedAt = 0

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** False when this address has done enough for this minute. */
  allow(address: string, nowMs = Date.now()): boolean {
    if (nowMs - this.#startedAt >= windowMs) {
      this.#counts.clear()
      this.#startedAt = nowMs
    }
    const visitor = visitorOf(address)
    const key = this.#counts.has(visitor) || this.#counts.size < addressesMax ? visitor : 'others'
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count <= this.#perMinute
  }
}

export function visitorOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.parts.slice(0, 4).join(':')
}
