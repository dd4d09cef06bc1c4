import { Refusal } from '../errors.ts'

const windowMs = 15 * 60_000
/** Tries of one client on one account. An account alone is counted more generously: nobody shall lock out its owner. */
const perPairMax = 10
const perAccountMax = 100
const perAddressMax = 50
const namesMax = 50_000

type Failures = { count: number; until: number }

/** Counts failed logins per account and per client address, so that neither can be guessed at speed. */
export class LoginThrottle {
  readonly #failures = new Map<string, Failures>()

  check(account: string, address: string, nowMs = Date.now()): void {
    const retryAfterMs = Math.max(
      this.#waitMs(pairOf(account, address), perPairMax, nowMs),
      this.#waitMs(`account ${account}`, perAccountMax, nowMs),
      this.#waitMs(`address ${address}`, perAddressMax, nowMs),
    )
    if (retryAfterMs > 0)
      throw new Refusal('rate_limited', 'Too many failed logins. Wait a while and try again.', {
        retryAfterSeconds: retryAfterMs / 1000,
      })
  }

  failed(account: string, address: string, nowMs = Date.now()): void {
    for (const name of [pairOf(account, address), `account ${account}`, `address ${address}`]) {
      const known = this.#failures.get(name)
      if (known && known.until > nowMs) known.count++
      else {
        if (this.#failures.size >= namesMax) this.#failures.clear()
        this.#failures.set(name, { count: 1, until: nowMs + windowMs })
      }
    }
  }

  succeeded(account: string, address: string): void {
    this.#failures.delete(pairOf(account, address))
    this.#failures.delete(`account ${account}`)
  }

  #waitMs(name: string, max: number, nowMs: number): number {
    const known = this.#failures.get(name)
    return known && known.count >= max ? known.until - nowMs : 0
  }
}

const pairOf = (account: string, address: string) => `account ${account} from ${address}`
