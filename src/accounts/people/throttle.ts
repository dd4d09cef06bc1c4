import { clientNetwork } from '../../platform/values/client-address.ts'
import { Refusal } from '../../platform/values/errors.ts'

const windowMs = 15 * 60_000
/** Attempts of one client on one account. */
const perPairMax = 10
/** Attempts of all clients on one account. */
const perAccountMax = 100
const perAddressMax = 50
const namesMax = 50_000

type Tries = { count: number; until: number }

/**
 * Limits failed sign-ins per account and per client address. Attempts from other addresses do not lock out a user at an
 * address that signed in before (as far as this process remembers), but they do at a new address.
 */
export class LoginThrottle {
  readonly #tries = new Map<string, Tries>()
  readonly #knownPairs = new Set<string>()

  /**
   * Returns the result of `check`; undefined means failure. An attempt is counted before the check and reverted unless
   * it fails, so that concurrent attempts are limited as well.
   */
  async attempt<Found>(
    account: string,
    address: string,
    check: () => Promise<Found | undefined>,
    nowMs = Date.now(),
  ): Promise<Found | undefined> {
    const client = clientNetwork(address)
    const names = {
      pair: `account ${account} from ${client}`,
      account: `account ${account}`,
      address: `address ${client}`,
    }
    this.#refuseTooMany(names, nowMs)
    for (const name of Object.values(names)) this.#count(name, nowMs)
    let found: Found | undefined
    try {
      found = await check()
    } catch (error) {
      for (const name of Object.values(names)) this.#takeBack(name)
      throw error
    }
    if (found !== undefined) this.#welcome(names)
    return found
  }

  #refuseTooMany({ pair, account, address }: Names, nowMs: number): void {
    const retryAfterMs = Math.max(
      this.#waitMs(pair, perPairMax, nowMs),
      this.#knownPairs.has(pair) ? 0 : this.#waitMs(account, perAccountMax, nowMs),
      this.#waitMs(address, perAddressMax, nowMs),
    )
    if (retryAfterMs > 0)
      throw new Refusal('rate_limited', `Too many failed logins. Try again in ${inMinutes(retryAfterMs)}.`, {
        retryAfterSeconds: retryAfterMs / 1000,
      })
  }

  #waitMs(name: string, max: number, nowMs: number): number {
    const known = this.#tries.get(name)
    return known && known.count >= max ? known.until - nowMs : 0
  }

  #count(name: string, nowMs: number): void {
    const known = this.#tries.get(name)
    if (known && known.until > nowMs) {
      known.count++
      this.#tries.delete(name)
      this.#tries.set(name, known)
    } else {
      // Reinserted, so that it is evicted last: many other names cannot reset an account under attack.
      this.#tries.delete(name)
      if (this.#tries.size >= namesMax) forgetFirst(this.#tries)
      this.#tries.set(name, { count: 1, until: nowMs + windowMs })
    }
  }

  #takeBack(name: string): void {
    const known = this.#tries.get(name)
    if (known && --known.count <= 0) this.#tries.delete(name)
  }

  #welcome({ pair, account, address }: Names): void {
    this.#tries.delete(pair)
    this.#tries.delete(account)
    this.#takeBack(address)
    if (this.#knownPairs.size >= namesMax) forgetFirst(this.#knownPairs)
    this.#knownPairs.add(pair)
  }
}

function forgetFirst(names: Map<string, unknown> | Set<string>): void {
  for (const first of names.keys()) {
    names.delete(first)
    return
  }
}

function inMinutes(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

/** The keys under which attempts are counted. */
type Names = { pair: string; account: string; address: string }
