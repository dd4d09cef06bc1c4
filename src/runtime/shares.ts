import { Refusal } from '../values/errors.ts'

export type ShareLimits = {
  /** Calls of one organization that run at the same time. */
  perOrganization: number
  /** Calls of all organizations that run at the same time. */
  overall: number
  /** Further calls of one organization that may wait for a slot. One more is refused with `rate_limited`. */
  waitingPerOrganization: number
  /** The longest wait for a slot. After it the call is refused with `unavailable`. */
  waitMs: number
}

/** Upper bound for all waiting calls together, so that many organizations cannot fill the memory. */
const waitingMax = 5_000
const retryAfterSeconds = 1

export type NamedShares = ReturnType<typeof createShares>

export type ShareOptions = {
  databaseConnections: number
  /** Requests to one endpoint at the same time. */
  webhookConcurrency: number
}

/**
 * The expensive kinds of work. Reads of lists and reports may hold at most half of the database connections, metrics and
 * background work a fifth each, and one organization at most a fifth with each, so that connections remain for everything
 * else.
 */
export function createShares({ databaseConnections, webhookConcurrency }: ShareOptions) {
  const queries = {
    perOrganization: Math.max(1, Math.floor(databaseConnections / 5)),
    overall: Math.max(1, Math.floor(databaseConnections / 2)),
    // Pages of the web app read several lists at the same time, for every member who has one open.
    waitingPerOrganization: 100,
    waitMs: 5_000,
  }
  return {
    /** Searches, lists and reports, which may read many rows. */
    queries: new Shares(queries),
    /** Metrics of the public API, which programs ask for many flows and days at the same time. */
    metrics: new Shares({ ...queries, overall: queries.perOrganization, waitingPerOrganization: 1_000 }),
    /** Counts of audiences while they are composed: one slice of an organization at a time, and few people who wait. */
    audienceCounts: new Shares({
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 5,
      waitMs: 2_000,
    }),
    /** Slices of background work (`BoundedWork`). A job waits for its next slice without holding anything. */
    work: new Shares({
      perOrganization: 1,
      overall: queries.perOrganization,
      waitingPerOrganization: 1_000,
      waitMs: 60_000,
    }),
    /** Test events: each holds a socket for up to WEBHOOK_TIMEOUT_MS. */
    webhookTests: new Shares({
      perOrganization: Math.min(3, webhookConcurrency),
      overall: 30,
      waitingPerOrganization: 5,
      waitMs: 5_000,
    }),
    /** Looking up DNS records, and making DKIM keys. */
    domainChecks: new Shares({ perOrganization: 2, overall: 10, waitingPerOrganization: 10, waitMs: 10_000 }),
    /** Reports of the providers of mail servers: one has up to 10,000 bounces. */
    providerReports: new Shares({ perOrganization: 2, overall: 10, waitingPerOrganization: 50, waitMs: 10_000 }),
    /** Testing connections to mail servers: each holds a socket for up to 15 seconds. */
    mailServerTests: new Shares({ perOrganization: 2, overall: 20, waitingPerOrganization: 4, waitMs: 10_000 }),
    /** Checks of links: each holds up to 4 sockets for up to 20 seconds. */
    linkChecks: new Shares({ perOrganization: 1, overall: 5, waitingPerOrganization: 2, waitMs: 20_000 }),
  }
}

type Waiter = { start: () => void; timer: NodeJS.Timeout }
type Share = { running: number; waiting: Set<Waiter> }

/**
 * Limits how many calls of an expensive kind run at the same time, for each organization and overall, so that one
 * organization cannot use up what all of them need (database connections, sockets, worker threads). Free slots go to
 * the waiting organizations in turn, not to the one with the most calls waiting. Limits are per process.
 */
export class Shares {
  readonly #limits: ShareLimits
  readonly #shares = new Map<string, Share>()
  #running = 0
  #waiting = 0

  constructor(limits: ShareLimits) {
    this.#limits = limits
  }

  /** Organizations with running or waiting calls. */
  get organizations(): number {
    return this.#shares.size
  }

  /** Returns what `work` returns. Throws `Refusal` if too many calls are waiting, or no slot became free. */
  async run<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result> {
    const share = this.#shareOf(organizationId)
    if (this.#hasSlot(share)) this.#start(share)
    else await this.#wait(organizationId, share)
    try {
      return await work()
    } finally {
      share.running--
      this.#running--
      this.#forget(organizationId, share)
      this.#startNext()
    }
  }

  #shareOf(organizationId: string): Share {
    let share = this.#shares.get(organizationId)
    if (!share) {
      share = { running: 0, waiting: new Set() }
      this.#shares.set(organizationId, share)
    }
    return share
  }

  #hasSlot({ running }: Share): boolean {
    return running < this.#limits.perOrganization && this.#running < this.#limits.overall
  }

  #start(share: Share): void {
    share.running++
    this.#running++
  }

  #wait(organizationId: string, share: Share): Promise<void> {
    const { waitingPerOrganization, waitMs } = this.#limits
    const refusal =
      share.waiting.size >= waitingPerOrganization ? tooMany() : this.#waiting >= waitingMax ? busy() : undefined
    if (refusal) {
      this.#forget(organizationId, share)
      throw refusal
    }
    this.#waiting++
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(waiter.timer)
        share.waiting.delete(waiter)
        this.#waiting--
      }
      const waiter: Waiter = {
        start: () => {
          end()
          this.#start(share)
          resolve()
        },
        timer: setTimeout(() => {
          end()
          this.#forget(organizationId, share)
          reject(busy())
        }, waitMs),
      }
      share.waiting.add(waiter)
    })
  }

  #forget(organizationId: string, share: Share): void {
    if (share.running === 0 && share.waiting.size === 0) this.#shares.delete(organizationId)
  }

  /** Skips only organizations that have used up their share: at most `overall / perOrganization` of them. */
  #startNext(): void {
    if (this.#waiting === 0) return
    for (const [organizationId, share] of this.#shares) {
      if (this.#running >= this.#limits.overall) return
      const [next] = share.waiting
      if (!next || !this.#hasSlot(share)) continue
      // Moves to the end of the queue, so that each organization gets one slot before any gets a second one.
      this.#shares.delete(organizationId)
      this.#shares.set(organizationId, share)
      next.start()
      return
    }
  }
}

function tooMany(): Refusal {
  return new Refusal(
    'rate_limited',
    'Your organization has too many requests of this kind in progress. Wait for them to finish and try again.',
    { retryAfterSeconds },
  )
}

function busy(): Refusal {
  return new Refusal('unavailable', 'Too many requests of this kind are in progress. Try again in a moment.', {
    retryAfterSeconds,
  })
}
