import { perNode } from '../../platform/db/cluster/batches.ts'
import type { Db } from '../../platform/db/db.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import { type Bucket, RateLimit, takeToken } from '../../platform/runtime/rate-limit.ts'
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts'
import {
  deleteOldApiRequests,
  insertApiRequests,
  type NewApiRequest,
  type TrimmedRows,
  trimApiRequests,
} from './api-requests.sql.ts'

export type { NewApiRequest } from './api-requests.sql.ts'

/** What is kept at most. The API and the web app name these numbers. */
export const keptDays = 30
export const keptPerKey = 500
const keptPerOrganization = 5_000

/** Of each key, per process: a burst, then this many requests per second. */
const successful = { perSecond: 1, burst: 50 }
const rejected = { perSecond: 2, burst: 50 }
const organizationLimit = { perSecond: 20, burst: 500 }
const keysMax = 10_000

const flushAfterMs = 1_000
/** Further rows are dropped until the database has stored these. With bodies and responses, they take at most 9 MB. */
const pendingMax = 1_000
const statementTimeoutMs = 2_000
/** After this many new rows, the oldest ones of their key are deleted. */
const trimEvery = 100
const trimsMax = 20
const deletedPerBatch = 5_000

const storing = 'store API requests'

/**
 * Collects the requests of API keys and stores them once per second, if there are any. It is a log: what a killed process
 * had collected is lost, and so are rows that the database cannot store in time. Requests never wait for it.
 */
export class ApiRequestLog {
  readonly #db: Db
  readonly #failures: FailureLog
  /** Plain maps, because they are read for every request: a `RateLimit` also keeps the order of use. */
  readonly #successful = new Map<ApiKeyId, Bucket>()
  readonly #rejected = new Map<ApiKeyId, Bucket>()
  readonly #organizationLimit = new RateLimit({ ...organizationLimit, keysMax })
  readonly #pending: NewApiRequest[] = []
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> | undefined
  /** New rows since the last trim, by organization or key. Those that are not listed are trimmed at their first row. */
  readonly #untrimmed = new Map<string, number>()

  constructor({ db, failures }: { db: Db; failures: FailureLog }) {
    this.#db = db
    this.#failures = failures
  }

  /**
   * Returns false if a request of this key is not kept, because the key or its organization had many just now. Call it
   * before collecting the values of the row.
   */
  keeps(key: { id: ApiKeyId; organizationId: OrganizationId }, status: number): boolean {
    const now = performance.now()
    const isKept =
      status >= 400
        ? takeFrom(this.#rejected, key.id, now, rejected)
        : takeFrom(this.#successful, key.id, now, successful)
    return isKept && this.#pending.length < pendingMax && this.#organizationLimit.allow(key.organizationId, now)
  }

  add(row: NewApiRequest): void {
    this.#pending.push(row)
    this.#schedule()
  }

  /** Stores what was collected. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#storing
    await this.#store()
  }

  #schedule(): void {
    if (this.#timer || this.#storing) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#storing = this.#store().finally(() => {
        this.#storing = undefined
        if (this.#pending.length > 0) this.#schedule()
      })
    }, flushAfterMs)
    this.#timer.unref()
  }

  async #store(): Promise<void> {
    const rows = this.#pending.slice()
    if (rows.length === 0) return
    let fault: unknown
    const store = async (some: readonly NewApiRequest[]) => {
      await this.#db.begin((tx) => insertApiRequests(tx, some), { statementTimeoutMs })
      await this.#trim(some)
      return []
    }
    try {
      await perNode(this.#db, rows, store, (_, error) => {
        fault = error
      })
      if (fault) throw fault
      this.#failures.succeeded(storing)
    } catch (error) {
      this.#failures.failed(storing, error)
    } finally {
      // Only now, so that the rows that a slow database has not stored count towards the limit.
      this.#pending.splice(0, rows.length)
    }
  }

  async #trim(rows: readonly NewApiRequest[]): Promise<void> {
    let trims = 0
    for (const [name, { count, keep, ...chosen }] of trimmedRowsOf(rows)) {
      const untrimmed = (this.#untrimmed.get(name) ?? trimEvery) + count
      if (this.#untrimmed.size >= keysMax) this.#untrimmed.clear()
      const isDue = untrimmed >= trimEvery && trims++ < trimsMax
      this.#untrimmed.set(name, isDue ? 0 : untrimmed)
      if (isDue) await trimApiRequests(this.#db.statement, chosen, keep)
    }
  }
}

function takeFrom(buckets: Map<ApiKeyId, Bucket>, id: ApiKeyId, now: number, limit: typeof successful): boolean {
  let bucket = buckets.get(id)
  if (!bucket) {
    if (buckets.size >= keysMax) buckets.clear()
    bucket = { tokens: limit.burst, filledAt: now }
    buckets.set(id, bucket)
  }
  return takeToken(bucket, now, limit) === 0
}

/** The keys and organizations of the rows, with the number of their rows. */
function trimmedRowsOf(rows: readonly NewApiRequest[]) {
  const chosen = new Map<string, TrimmedRows & { count: number; keep: number }>()
  for (const { organizationId, apiKeyId, status } of rows) {
    const isRejected = status >= 400
    const byKey = { organizationId, apiKeyId, isRejected, keep: keptPerKey }
    const byOrganization = { organizationId, apiKeyId: undefined, isRejected, keep: keptPerOrganization }
    for (const each of [byKey, byOrganization]) {
      const name = `${each.apiKeyId ?? organizationId} ${isRejected}`
      chosen.set(name, { ...each, count: (chosen.get(name)?.count ?? 0) + 1 })
    }
  }
  return chosen
}

/** Deletes rows after 30 days, in batches. */
export async function deleteExpiredApiRequests(db: Db): Promise<void> {
  while ((await deleteOldApiRequests(db.statement, keptDays, deletedPerBatch)) === deletedPerBatch);
}
