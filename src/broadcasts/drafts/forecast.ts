import { type Hold, holdOf, OpenLimit } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { dayMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type WeeklyWindow, windowAt } from '../../platform/values/weekly-window.ts'
import type { UsedLimit } from '../sending/plan-limits.ts'

/** Recipients that get the email from the same time on. The zone is that of their sending hours. */
export type Portion = { startsAt: number; zone: string; recipients: number }

export type Pace = {
  organizationId: OrganizationId
  window: WeeklyWindow | null
  /** The time between two emails; 0 if nothing limits it and the usual speed is not known. */
  spacingMs: number
  limits: readonly UsedLimit[]
}

export type Forecast = {
  /** When the first and the last email leave. The last one is null if that cannot be computed. */
  firstAt: number
  lastAt: number | null
  /** What emails wait for: the first wait of each cause. */
  holds: Hold[]
  /** The limits as they are then. */
  limits: readonly UsedLimit[]
}

/** Changes of the sending hours, of the day and so on that are looked ahead. */
const stepsMax = 200

/** Says when emails will leave, by the rules that apply when they are sent. */
export async function forecast({ startsAt, zone, recipients }: Portion, pace: Pace): Promise<Forecast> {
  const { window, spacingMs } = pace
  const hours = window && { window, zone }
  const pacer = new Pacer(pace.organizationId)
  const holds: Hold[] = []
  let { limits } = pace
  let at = startsAt
  let firstAt: number | undefined
  let lastAt: number | null = startsAt
  let left = recipients
  for (let step = 0; left > 0; step++) {
    if (step === stepsMax) {
      lastAt = null
      break
    }
    if (pacer.isDue) await pacer.turn()
    const open = limits.map(({ limit, use }) => new OpenLimit(limit, use, at))
    const hold = holdOf({ hours, limits: open }, at)
    if (hold) {
      if (holds.every(({ cause }) => cause !== hold.cause)) holds.push(hold)
      at = hold.until
      continue
    }
    firstAt ??= at
    const room = Math.min(...open.map((limit) => limit.room), Number.POSITIVE_INFINITY)
    const closesAt = hours ? windowAt(hours.window, zone, at).until : Number.POSITIVE_INFINITY
    const midnight = (Math.floor(at / dayMs) + 1) * dayMs
    const until = Math.min(closesAt, room === Number.POSITIVE_INFINITY ? room : midnight)
    const fitting = spacingMs === 0 ? left : Math.max(1, Math.ceil((until - at) / spacingMs))
    const emails = Math.min(left, room, fitting)
    for (const limit of open) limit.take(emails)
    limits = open.map(({ limit, use }) => ({ limit, use }))
    lastAt = at + (emails - 1) * spacingMs
    at += emails * spacingMs
    left -= emails
  }
  return { firstAt: firstAt ?? at, lastAt, holds, limits }
}

/** The same for portions in the order of their starts. They share the limits, and have sending hours of their own. */
export async function forecastAll(portions: readonly Portion[], pace: Pace): Promise<Forecast> {
  const [first, last] = [portions[0]!, portions.at(-1)!]
  const second = portions.find(({ startsAt }) => startsAt > first.startsAt)
  const countOf = (some: readonly Portion[]) => some.reduce((sum, { recipients }) => sum + recipients, 0)
  const startingAt = (time: number) => countOf(portions.filter(({ startsAt }) => startsAt === time))
  const begun = await forecast({ ...first, recipients: startingAt(first.startsAt) }, pace)
  if (!second) return begun
  const all = await forecast({ ...first, recipients: countOf(portions) }, { ...pace, window: null })
  const ended = await forecast({ ...last, recipients: startingAt(last.startsAt) }, pace)
  const ends = [begun, all, ended].flatMap(({ lastAt }) => lastAt ?? [])
  const holds = new Map([...ended.holds, ...all.holds, ...begun.holds].map((hold) => [hold.cause, hold]))
  return {
    firstAt: begun.firstAt,
    lastAt: ends.length < 3 ? null : Math.max(...ends),
    holds: [{ cause: 'local_time', until: second.startsAt, limit: null }, ...holds.values()],
    limits: all.limits,
  }
}
