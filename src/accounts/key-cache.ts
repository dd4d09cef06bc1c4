import type { Db } from '../db/db.ts'
import { Batcher } from '../runtime/batcher.ts'
import type { Log } from '../runtime/log.ts'
import type { ApiKeyId } from '../values/ids.ts'
import { findKeysByHash, type KnownKey, touchApiKeys } from './api-keys.sql.ts'
import { hashKey } from './api-keys.ts'

const confirmEveryMs = 2_000
/** A key that could not be confirmed for this long is looked up again before it is believed. */
const believeForMs = 4_000
const keysMax = 10_000
const touchEveryMs = 60_000
const lookUpsWaitingMax = 10_000

type Entry = { key: KnownKey; confirmedAt: number; used: boolean; touchedAt: number }

/**
 * Valid API keys in memory. A request with a known key costs no query: all keys in use are confirmed together every two
 * seconds, so a revoked one stops working within that time on every node.
 */
export class KeyCache {
  readonly #db: Db
  readonly #log: Log
  /** By the key itself rather than its hash: the hot path then hashes nothing. Memory only, never logged. */
  readonly #entries = new Map<string, Entry>()
  readonly #lookUps: Batcher<string, KnownKey | undefined>
  /** How often a key was deleted on this node. */
  #deletions = 0
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db, log: Log) {
    this.#db = db
    this.#log = log
    this.#lookUps = new Batcher({
      name: 'look up keys',
      itemsMax: 500,
      waitingMax: lookUpsWaitingMax,
      run: async (hashes) => {
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

  /** Undefined for a key that is unknown or revoked. */
  find(text: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const entry = this.#entries.get(text)
    if (entry && Date.now() - entry.confirmedAt < believeForMs) {
      entry.used = true
      return entry.key
    }
    return this.#lookUp(text)
  }

  /** A key deleted on this node stops at once. */
  forget(id: ApiKeyId): void {
    this.#deletions++
    for (const [text, { key }] of this.#entries) if (key.id === id) this.#entries.delete(text)
  }

  async #lookUp(text: string): Promise<KnownKey | undefined> {
    const deletions = this.#deletions
    const key = await this.#lookUps.add(hashKey(text))
    if (!key) {
      this.#entries.delete(text)
      return undefined
    }
    // It may have been read before the deletion of a key: asking again tells.
    if (deletions !== this.#deletions) return this.#lookUp(text)
    if (this.#entries.size >= keysMax) this.#entries.clear()
    const known = this.#entries.get(text)
    this.#entries.set(text, { key, confirmedAt: Date.now(), used: true, touchedAt: known?.touchedAt ?? 0 })
    return key
  }

  /** Asks for all keys used since the last time; the others leave the cache, and so do those that are revoked. */
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
    } catch (error) {
      this.#log.warn({ err: error }, 'API keys could not be confirmed')
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
