import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/db.ts'
import type { Batcher } from '../../platform/runtime/batcher.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { clientNetwork } from '../../platform/values/client-address.ts'
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts'
import { findKeysByHash, type KnownKey, touchApiKeys } from './api-keys.sql.ts'

export type { KnownKey } from './api-keys.sql.ts'

export const apiKeyPattern = /^wxk_[A-Za-z0-9_-]{32,128}$/

/** SHA-256 in hex. The key has 256 random bits and cannot be guessed, so a slow hash is not needed. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

const confirming = 'confirm API keys'
const confirmEveryMs = 2_000
/** A key that was not confirmed for this long is looked up before it is accepted. */
const validForMs = 4_000
const keysMax = 10_000
const touchEveryMs = 60_000
const lookUpsWaitingMax = 10_000
const lookUpsWaitingPerNetwork = 2_000

/** Nothing is known yet of the organization, so each client network has a share of the look-ups. */
type LookUp = { hash: string; network: string }

type Entry = { key: KnownKey; confirmedAt: number; used: boolean; touchedAt: number }

/**
 * Caches valid API keys. A request with a cached key needs no query: all keys in use are confirmed together every two
 * seconds, so a revoked key stops working within that time in every process.
 */
export class KeyCache {
  readonly #db: Db
  readonly #failures: FailureLog
  /** Keyed by the API key instead of its hash, so that the hot path needs no hashing. Never stored or logged. */
  readonly #entries = new Map<string, Entry>()
  readonly #lookUps: Batcher<LookUp, KnownKey | undefined>
  /** How often keys were forgotten in this process. */
  #deletions = 0
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db, stages: StageRegistry, failures: FailureLog) {
    this.#db = db
    this.#failures = failures
    this.#lookUps = stages.batcher({
      name: 'look up keys',
      organizationOf: ({ network }) => network,
      itemsMax: 500,
      waitingPerOrganization: lookUpsWaitingPerNetwork,
      waitingMax: lookUpsWaitingMax,
      run: async (lookUps) => {
        const hashes = lookUps.map(({ hash }) => hash)
        const found = new Map((await findKeysByHash(db, hashes)).map((key) => [key.hash, key]))
        return hashes.map((hash) => ({ ok: true, value: found.get(hash) }))
      },
    })
  }

  start(): void {
    this.#timer = setInterval(() => void this.#confirm(), confirmEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** `address`: of the client. Returns undefined if the key is unknown or revoked. */
  find(text: string, address: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const entry = this.#entries.get(text)
    if (entry && Date.now() - entry.confirmedAt < validForMs) {
      entry.used = true
      return entry.key
    }
    return this.#lookUp(text, clientNetwork(address))
  }

  /** Makes a key that was deleted in this process invalid immediately. */
  forget(id: ApiKeyId): void {
    this.#deletions++
    for (const [text, { key }] of this.#entries) if (key.id === id) this.#entries.delete(text)
  }

  /** Makes this process look up the keys of an organization again, because a permission of a creator changed. */
  forgetOrganization(id: OrganizationId): void {
    this.#deletions++
    for (const [text, { key }] of this.#entries) if (key.organizationId === id) this.#entries.delete(text)
  }

  async #lookUp(text: string, network: string): Promise<KnownKey | undefined> {
    const deletions = this.#deletions
    const key = await this.#lookUps.add({ hash: hashKey(text), network })
    if (!key) {
      this.#entries.delete(text)
      return undefined
    }
    // The key may have been read before a deletion, so it is looked up again.
    if (deletions !== this.#deletions) return this.#lookUp(text, network)
    if (this.#entries.size >= keysMax) this.#entries.clear()
    const known = this.#entries.get(text)
    this.#entries.set(text, { key, confirmedAt: Date.now(), used: true, touchedAt: known?.touchedAt ?? 0 })
    return key
  }

  /** Confirms all keys used since the last run. Removes unused and revoked keys from the cache. */
  async #confirm(): Promise<void> {
    const askedAt = Date.now()
    for (const [text, { used }] of this.#entries) if (!used) this.#entries.delete(text)
    const asked = [...this.#entries]
    if (asked.length === 0) return
    for (const [, entry] of asked) entry.used = false
    try {
      const hashes = asked.map(([, { key }]) => key.hash)
      const found = new Map((await findKeysByHash(this.#db, hashes)).map((key) => [key.id, key]))
      for (const [text, entry] of asked) {
        const key = found.get(entry.key.id)
        if (key) Object.assign(entry, { key, confirmedAt: askedAt })
        else this.#entries.delete(text)
      }
      await this.#touch(asked.map(([, entry]) => entry).filter(({ confirmedAt }) => confirmedAt === askedAt))
      this.#failures.succeeded(confirming)
    } catch (error) {
      this.#failures.failed(confirming, error)
    }
  }

  async #touch(entries: Entry[]): Promise<void> {
    const now = Date.now()
    const due = entries.filter(({ touchedAt }) => now - touchedAt >= touchEveryMs)
    if (due.length === 0) return
    await touchApiKeys(
      this.#db.statement,
      due.map(({ key }) => key.id),
    )
    for (const entry of due) entry.touchedAt = now
  }
}
