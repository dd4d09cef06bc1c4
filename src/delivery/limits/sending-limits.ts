import { setTimeout as sleep } from 'node:timers/promises'
import { createBatcher, type DbBatcherOptions, type ItemBatcher, inTurn } from '../../platform/db/cluster/batches.ts'
import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { leastUuid, type OrganizationId } from '../../platform/values/ids.ts'
import { longest } from './hold.ts'
import { type Limit, type LimitHold, type Urgency, urgencies } from './limit.ts'
import { type LimitUse, OpenLimit } from './open-limit.ts'
import {
  deleteOldUses,
  deleteUse,
  findUse,
  insertUses,
  type LimitKey,
  type LockedUse,
  lockUses,
  updateUses,
} from './sending-limits.sql.ts'

export type { Limit, Urgency } from './limit.ts'

/** The organization of limits that apply to the whole installation. */
export const installationId = leastUuid as OrganizationId

/** An email whose turn is this near waits in the process. Urgent ones wait longest, so that they go before the others. */
const horizonMs: Record<Urgency, number> = { urgent: 2_000, waited: 1_500, bulk: 1_000 }
/** The horizon while too many emails wait in this process, because they use places of workers. */
const shortHorizonMs = 100
const waitingPerOrganizationMax = 20
const waitingMax = 200
/** Limits of an email whose turns differ less count as one. */
const sameTimeMs = 20

const batchMax = 500
const pendingMax = 20_000
const paceMs = 20

export type TakeOptions = {
  isBulk: boolean
  /** True if the email was told to wait before. */
  hasWaited?: boolean
  /** True if it is sent by its broadcast, and not from the queue. */
  isInBroadcast?: boolean
}

export type Waits = { kind: 'wait'; limit: Limit; cause: LimitHold['cause']; waitMs: number }

/**
 * taken: the email may leave now. wait: it may not, and should be tried again after `waitMs`. `at`: the planned time on the clock
 * of the database.
 */
export type Taken =
  | {
      kind: 'taken'
      at: Date
      /** Must be called if the email was not sent: then it does not count for the day. */
      giveBack: () => void
    }
  | Waits

/** Keys of limits whose use is kept, because it counts days. */
const planPrefix = 'plan/'
const keptDays = 2

export const planKey = (id: string): string => `${planPrefix}${id}`

/** What is used of a limit today. Undefined if it was never used. */
export async function findLimitUse(db: Reader, limit: Limit): Promise<LimitUse | undefined> {
  const use = await findUse(db, limit)
  return use && new OpenLimit(limit, use, Date.now()).use
}

/** A plan with this id begins again. */
export async function forgetPlan(db: Db, organizationId: OrganizationId, id: string): Promise<void> {
  await deleteUse(db.statement, organizationId, planKey(id))
}

export async function deleteUnusedLimits(db: Db): Promise<void> {
  await deleteOldUses(db.statement, planPrefix, keptDays)
}

type Ask = { limits: readonly Limit[]; urgency: Urgency; horizonMs: number; isInBroadcast: boolean }
type GivenBack = LimitKey & { day: string }
type Item = { organizationId: OrganizationId } & ({ ask: Ask } | { givenBack: readonly GivenBack[] })

type Answer =
  | { kind: 'reserved'; limits: ReadonlySet<Limit>; at: number; now: number; counted: GivenBack[] }
  | Waits
  | { kind: 'none' }

const unlimited: Taken = { kind: 'taken', at: new Date(0), giveBack: () => {} }

/**
 * Limits of emails per second and per day that all processes share. What is used of a limit is a row. An email reserves its time in
 * it; the emails that ask at the same time do so in one transaction. Nothing is reserved in advance, so a process that is
 * killed loses only the times of the emails it was about to send.
 */
export class SendingLimits {
  readonly #batcher: ItemBatcher<Item, Answer>
  /** Emails that ask or wait for their time. */
  readonly #waiting = new Map<OrganizationId, number>()
  #waitingCount = 0

  constructor(db: Db, stages: StageRegistry) {
    const options: DbBatcherOptions<Item, Answer> = {
      name: 'sending limits',
      organizationOf: ({ organizationId }) => organizationId,
      itemsMax: batchMax,
      waitingPerOrganization: pendingMax / 2,
      waitingMax: pendingMax,
      paceMs,
      run: async (items) => (await reserveAll(db, items)).map((value) => ({ ok: true, value })),
    }
    this.#batcher = createBatcher(db, stages, options)
  }

  /** Waits up to two seconds for the turn of an email of this organization. */
  take(
    organizationId: OrganizationId,
    limits: readonly Limit[],
    { isBulk, hasWaited = false, isInBroadcast = false }: TakeOptions,
  ): Taken | Promise<Taken> {
    if (limits.length === 0) return unlimited
    const urgency = isBulk ? (hasWaited ? 'waited' : 'bulk') : 'urgent'
    return this.#take(organizationId, { limits, urgency, isInBroadcast })
  }

  async #take(organizationId: OrganizationId, ask: Omit<Ask, 'horizonMs'>): Promise<Taken> {
    const count = this.#waiting.get(organizationId) ?? 0
    const mayWait = count < waitingPerOrganizationMax && this.#waitingCount < waitingMax
    this.#waiting.set(organizationId, count + 1)
    this.#waitingCount++
    try {
      return await this.#takeAll(organizationId, {
        ...ask,
        horizonMs: mayWait ? horizonMs[ask.urgency] : shortHorizonMs,
      })
    } finally {
      this.#waitingCount--
      const left = this.#waiting.get(organizationId)! - 1
      if (left > 0) this.#waiting.set(organizationId, left)
      else this.#waiting.delete(organizationId)
    }
  }

  /**
   * If the turns of two limits are far apart, it waits for the later one and then asks for the other: emails to a slow site
   * would otherwise reserve times of a mail server that others could use before.
   */
  async #takeAll(organizationId: OrganizationId, ask: Ask): Promise<Taken> {
    const counted: GivenBack[] = []
    let left = ask.limits
    for (;;) {
      const answer = await this.#batcher.add({ organizationId, ask: { ...ask, limits: left } })
      if (answer.kind === 'none') throw new Error('A question about limits has no answer')
      if (answer.kind === 'wait') {
        this.#giveBack(organizationId, counted)
        return answer
      }
      counted.push(...answer.counted)
      const waitMs = answer.at - answer.now
      if (waitMs > 1) await sleep(waitMs)
      left = left.filter((limit) => !answer.limits.has(limit))
      if (left.length > 0) continue
      return { kind: 'taken', at: new Date(answer.at), giveBack: () => this.#giveBack(organizationId, counted) }
    }
  }

  #giveBack(organizationId: OrganizationId, counted: GivenBack[]): void {
    const givenBack = counted.splice(0)
    // If the database is unavailable, they stay counted.
    if (givenBack.length > 0) this.#batcher.add({ organizationId, givenBack }).catch(() => {})
  }

  /** Resolves when nothing is being written. */
  drained(): Promise<void> {
    return this.#batcher.drained()
  }
}

async function reserveAll(db: Db, items: readonly Item[]): Promise<Answer[]> {
  const limits = new Map<string, LimitKey>()
  for (const item of items)
    for (const limit of 'ask' in item ? item.ask.limits : item.givenBack) limits.set(nameOf(limit), limit)
  // In the order in which all processes lock them, so that they cannot deadlock.
  const keys = [...limits].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key)
  const reserveOnce = () => db.begin((tx) => reserveLocked(tx, keys, items), { rows: keys.length })
  const answers = await reserveOnce()
  if (answers) return answers
  // Before the transaction that locks them: it would wait for the rows of others while it holds locks.
  await insertUses(db.statement, keys)
  const later = await reserveOnce()
  if (!later) throw new Error('The rows of limits were deleted')
  return later
}

/** Returns undefined if rows are missing. */
async function reserveLocked(tx: Tx, keys: readonly LimitKey[], items: readonly Item[]): Promise<Answer[] | undefined> {
  const locked: LockedUse[] = []
  await inTurn(tx, keys, async (some) => {
    locked.push(...(await lockUses(tx, some)))
  })
  if (locked.length < keys.length) return undefined
  const now = Math.max(...locked.map((row) => row.now))
  const rows = new Map(locked.map((row) => [nameOf(row), row]))
  for (const item of items)
    if ('givenBack' in item)
      for (const given of item.givenBack) {
        const { use } = rows.get(nameOf(given))!
        if (use.day === given.day && use.used > 0) use.used--
      }
  const open = new Map<string, OpenLimit>()
  const openLimit = (limit: Limit): OpenLimit => {
    const name = nameOf(limit)
    const known = open.get(name)
    if (known) return known
    const opened = new OpenLimit(limit, rows.get(name)!.use, now)
    open.set(name, opened)
    return opened
  }
  const answers = new Map<Item, Answer>()
  for (const urgency of urgencies)
    for (const item of items)
      if ('ask' in item && item.ask.urgency === urgency) answers.set(item, reserve(item.ask, openLimit, now))
  const changed = keys.map((key) => ({ ...key, use: open.get(nameOf(key))?.use ?? rows.get(nameOf(key))!.use }))
  await inTurn(tx, changed, async (some) => void updateUses(tx, some))
  return items.map((item) => answers.get(item) ?? { kind: 'none' })
}

const nameOf = ({ organizationId, key }: LimitKey) => `${organizationId} ${key}`

/** All limits let the email through, or it waits for the one that delays it most. */
function reserve(
  { limits, urgency, horizonMs, isInBroadcast }: Ask,
  openLimit: (limit: Limit) => OpenLimit,
  now: number,
): Answer {
  const opened = limits.map(openLimit)
  const holds = opened.map((open) => open.hold(urgency, horizonMs))
  // A broadcast waits as a whole if it can, and asks again for whichever email is the next then.
  const broadcastHold = isInBroadcast ? longest(holds.filter((hold) => hold?.limit.waitsInBroadcast)) : undefined
  if (broadcastHold) {
    const { limit, cause, until } = broadcastHold
    return waits(broadcastHold, (cause === 'daily_limit' ? until : openLimit(limit).nextAt) - now)
  }
  const hold = longest(holds)
  if (hold) {
    openLimit(hold.limit).wait(urgency, hold)
    return waits(hold, hold.until - now)
  }
  const at = Math.max(now, ...opened.map((open) => (open.hasRate ? open.nextAt : now)))
  const reserved = limits.filter((limit) => {
    const open = openLimit(limit)
    return !open.hasRate || at - open.nextAt <= sameTimeMs
  })
  for (const limit of reserved) openLimit(limit).take()
  const counted = reserved
    .filter(({ perDay, plan }) => perDay !== null || plan)
    .map((limit) => ({ organizationId: limit.organizationId, key: limit.key, day: openLimit(limit).use.day }))
  return { kind: 'reserved', limits: new Set(reserved), at, now, counted }
}

const waits = ({ limit, cause }: LimitHold, waitMs: number): Waits => ({
  kind: 'wait',
  limit,
  cause,
  waitMs: Math.ceil(waitMs),
})
