import { perOrganization } from '../../platform/db/cluster/batches.ts'
import { type Db, isDataFault } from '../../platform/db/db.ts'
import type { FailureLog } from '../../platform/runtime/failure-log.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { getFeedState } from '../recording/feed-positions.ts'
import { EventsRecorded } from '../recording/record.ts'
import type { Place } from './cursor.ts'
import { findOrganizationsWithEvents } from './feed.sql.ts'

const perOrganizationMax = 20
const overallMax = 1_000
/** Events of other processes are found within this time. */
const lookEveryMs = 250
/** Events of this process are looked for this long after the first of them was committed. */
const gatherMs = 20
const work = 'look for events of waiting readers'

type WaitingReader = { organizationId: OrganizationId; position: bigint; end: (hasEvents: boolean) => void }

/**
 * Requests that wait for events. They hold no database connection: one query looks for the events of all of them, soon
 * after this process has recorded some, and otherwise a few times per second while anyone waits.
 */
export class WaitingReaders {
  readonly #db: Db
  readonly #failures: FailureLog
  readonly #readers = new Map<OrganizationId, Set<WaitingReader>>()
  /** Organizations for which this process has just recorded events. */
  #recorded = new Set<OrganizationId>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #recordedTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(db: Db, failures: FailureLog) {
    this.#db = db
    this.#failures = failures
    db.onAnnouncement((announced) => {
      if (this.#count > 0 && announced instanceof EventsRecorded) this.#noteRecorded(announced)
    })
  }

  /**
   * Resolves to true when there are events after `place`. Resolves to false after `waitMs`, when the signal is aborted or
   * the service stops, and at once if too many requests of the organization, or of all, are waiting.
   */
  async wait(organizationId: OrganizationId, { position }: Place, waitMs: number, signal: AbortSignal) {
    const readers = this.#readers.get(organizationId) ?? new Set()
    const isFull = readers.size >= perOrganizationMax || this.#count >= overallMax
    if (this.#isClosed || signal.aborted || isFull) return false
    this.#readers.set(organizationId, readers)
    return new Promise<boolean>((resolve) => {
      const stop = () => reader.end(false)
      const timer = setTimeout(stop, waitMs)
      const reader: WaitingReader = {
        organizationId,
        position: position + 1n,
        end: (hasEvents) => {
          if (!readers.delete(reader)) return
          this.#count--
          if (readers.size === 0) this.#readers.delete(organizationId)
          clearTimeout(timer)
          signal.removeEventListener('abort', stop)
          resolve(hasEvents)
        },
      }
      readers.add(reader)
      this.#count++
      signal.addEventListener('abort', stop)
      this.#timer ??= setTimeout(() => this.#lookForAll(), lookEveryMs)
    })
  }

  /** Ends all waits, so that the service can stop. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#recordedTimer)
    for (const reader of this.#all()) reader.end(false)
  }

  #all(): WaitingReader[] {
    return [...this.#readers.values()].flatMap((readers) => [...readers])
  }

  #noteRecorded({ events }: EventsRecorded): void {
    for (const { organizationId } of events) if (this.#readers.has(organizationId)) this.#recorded.add(organizationId)
    if (this.#recorded.size > 0) this.#recordedTimer ??= setTimeout(() => this.#lookForRecorded(), gatherMs)
  }

  async #lookForRecorded(): Promise<void> {
    const recorded = this.#recorded
    this.#recorded = new Set()
    await this.#look(this.#all().filter(({ organizationId }) => recorded.has(organizationId)))
    this.#recordedTimer = undefined
  }

  async #lookForAll(): Promise<void> {
    await this.#look(this.#all())
    const isNeeded = this.#count > 0 && !this.#isClosed
    this.#timer = isNeeded ? setTimeout(() => this.#lookForAll(), lookEveryMs) : undefined
  }

  async #look(readers: readonly WaitingReader[]): Promise<void> {
    if (readers.length === 0) return
    try {
      const horizon = BigInt((await getFeedState(this.#db)).horizon)
      const reached = readers.filter(({ position }) => position < horizon)
      const found = new Set(
        await perOrganization(
          this.#db,
          reached,
          (group) => this.#find(group, horizon),
          (_group, error) => this.#failures.failed(work, error),
        ),
      )
      for (const reader of reached) if (found.has(reader.organizationId)) reader.end(true)
      this.#failures.succeeded(work)
    } catch (error) {
      this.#failures.failed(work, error)
    }
  }

  /** Asks for one reader after the other if the question for all of them fails, so that one cannot fail the others. */
  async #find(readers: readonly WaitingReader[], horizon: bigint): Promise<readonly OrganizationId[]> {
    try {
      return await findOrganizationsWithEvents(this.#db, readers, horizon)
    } catch (error) {
      if (!isDataFault(error)) throw error
      if (readers.length === 1) {
        this.#failures.failed(work, error)
        return []
      }
      const found: OrganizationId[] = []
      for (const reader of readers) found.push(...(await this.#find([reader], horizon)))
      return found
    }
  }
}
