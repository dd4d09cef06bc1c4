import type { ReadyVersion } from '../../content/content.ts'
import { type Hold, OpenLimit } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { hourMs } from '../../platform/values/durations.ts'
import { isTimeZone } from '../../platform/values/time-zone.ts'
import { senderOf } from '../../sending/sending.ts'
import { countSample } from '../audience/audience.sql.ts'
import { countOtherBroadcasts } from '../audience/other-broadcasts.sql.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { splitOf } from '../prepare.ts'
import { localStart, plannedStart } from '../schedule.ts'
import { type EmailLimits, findLimits, type LimitParts, type UsedLimit } from '../sending/plan-limits.ts'
import { kindOf } from '../sending/service-announcements.ts'
import { findUsualSpeed } from '../sending/usual-speed.sql.ts'
import { hasWinner, type VariantKey, variantKeyOf } from '../variants.ts'
import { forecastAll, type Pace, type Portion } from './forecast.ts'

/** Makes up for the rounding errors of two divisions, which would make a whole number one too low. */
const roundingMax = 1e-6

export type PlanParts = LimitParts

/** Results of the check. */
export type Counted = {
  recipients: number
  /** Recipients by the time zone in their attribute, if the broadcast is sent at their local time. */
  zones: ReadonlyMap<string, number>
  /** One for each variant, or one. */
  versions: readonly ReadyVersion[]
  /** The subject of each version as the first recipient gets it. */
  subjects: readonly (string | null)[]
}

export type PlannedEmail = {
  variant: VariantKey | null
  share: number | null
  fromName: string | null
  fromEmail: string
  subject: string
  exampleSubject: string | null
}

/** Why not all emails leave at once. */
export type PlannedWait = {
  cause: Hold['cause'] | 'winner'
  /** Of the limit. */
  name: string | null
  /** When the first wait for it ends. Null if a user ends it by choosing the winner. */
  until: Date | null
}

export type Plan = {
  /** Null if it starts at once. */
  startsAt: Date | null
  emails: PlannedEmail[]
  /** Null if only the mail server limits the speed. */
  messagesPerHour: number | null
  /** The speed of recent broadcasts, if there are any and the limits allow more. */
  usualMessagesPerHour: number | null
  /** Whether receiving sites have limits, which depend on the addresses: the times do not include them. */
  hasSiteLimits: boolean
  /** The recipients that get the variants before the winner is chosen. Null without a test. */
  sample: number | null
  waits: PlannedWait[]
  /** When the first email leaves. */
  firstEmailAt: Date
  /** Null if it is not known. */
  endsAt: Date | null
  /** Other broadcasts that may be sent at the same time. The times do not include them. */
  otherBroadcasts: number
}

/** Says what would happen if the broadcast was started now, from the rules that apply when it is sent. */
export async function planBroadcast(parts: PlanParts, broadcast: Broadcast, counted: Counted): Promise<Plan> {
  const { organizationId, schedule, messagesPerHour, now } = broadcast
  const emails = await Promise.all(
    counted.versions.map((version, at) => emailOf(parts, broadcast, version, at, counted.subjects[at])),
  )
  const { limits, hasSiteLimits } = await limitsOfSenders(parts, broadcast, emails)
  const limitedSpacingMs = Math.max(
    messagesPerHour === null ? 0 : hourMs / messagesPerHour,
    ...limits.map(({ limit, use }) => new OpenLimit(limit, use, +now).spacingMs),
  )
  const perHour = limitedSpacingMs === 0 ? null : Math.floor(hourMs / limitedSpacingMs + roundingMax)
  const usual = await parts.read(organizationId, (db) => findUsualSpeed(db, organizationId))
  const usualPerHour = usual ? Math.round(usual * 3_600) : null
  const spacingMs = Math.max(limitedSpacingMs, usual ? 1000 / usual : 0)
  const startsAt = plannedStart(schedule, now) ?? null
  const from = startsAt ?? now
  const portions = await portionsOf(broadcast, counted, +from)
  const split = hasWinner(broadcast) ? splitOf(broadcast) : undefined
  const sample = split && (await parts.read(organizationId, (db) => countSample(db, counted.recipients, split)))
  const times = await timesOf(
    broadcast,
    portions,
    { organizationId, window: schedule.window, spacingMs, limits },
    sample,
  )
  const endsAt = spacingMs === 0 || times.lastAt === null ? null : new Date(times.lastAt)
  const span = { from, until: endsAt ?? from }
  const others = await parts.read(organizationId, (db) => countOtherBroadcasts(db, broadcast, span))
  return {
    startsAt,
    emails,
    messagesPerHour: perHour,
    usualMessagesPerHour: perHour !== null && usualPerHour !== null && usualPerHour >= perHour ? null : usualPerHour,
    hasSiteLimits,
    sample: sample ?? null,
    waits: times.waits,
    firstEmailAt: new Date(times.firstAt),
    endsAt,
    otherBroadcasts: others ?? 0,
  }
}

async function emailOf(
  { senders }: PlanParts,
  { organizationId, variants }: Broadcast,
  version: ReadyVersion,
  position: number,
  exampleSubject: string | null | undefined,
): Promise<PlannedEmail> {
  const { name, email } = await senderOf(senders, organizationId, version)
  const variant = variants[position]
  return {
    variant: variant ? variantKeyOf(position) : null,
    share: variant?.share ?? null,
    fromName: name,
    fromEmail: email,
    subject: version.subject,
    exampleSubject: exampleSubject ?? null,
  }
}

/** Versions may have different senders. The limits of all of them apply. */
async function limitsOfSenders(
  parts: PlanParts,
  broadcast: Broadcast,
  emails: readonly PlannedEmail[],
): Promise<EmailLimits> {
  const { organizationId, now } = broadcast
  const limits = new Map<string, UsedLimit>()
  let hasSiteLimits = false
  for (const from of new Set(emails.map(({ fromEmail }) => fromEmail))) {
    const found = await findLimits(parts, { organizationId, kind: kindOf(broadcast), from }, +now)
    for (const each of found.limits) limits.set(each.limit.key, each)
    hasSiteLimits ||= found.hasSiteLimits
  }
  return { limits: [...limits.values()], hasSiteLimits }
}

/** The recipients by the time from which they get the email, the first ones first. */
async function portionsOf(
  { organizationId, schedule }: Broadcast,
  { recipients, zones }: Counted,
  startsAt: number,
): Promise<Portion[]> {
  const { at, time_zone: fallback } = schedule
  if (!schedule.per_recipient || at === null) return [{ startsAt, zone: fallback, recipients }]
  const portions: Portion[] = []
  const add = (zone: string, count: number) =>
    portions.push({ startsAt: Math.max(startsAt, +localStart(at, zone)), zone, recipients: count })
  let others = recipients
  const pacer = new Pacer(organizationId)
  for (const [zone, count] of zones) {
    if (pacer.isDue) await pacer.turn()
    if (!isTimeZone(zone)) continue
    add(zone, count)
    others -= count
  }
  if (others > 0 || portions.length === 0) add(fallback, others)
  return portions.toSorted(byStart)
}

const byStart = (a: Portion, b: Portion) => a.startsAt - b.startsAt

type Times = { firstAt: number; lastAt: number | null; waits: PlannedWait[] }

/** `sample` is undefined if all recipients get the email without waiting for a winner. */
async function timesOf(
  broadcast: Broadcast,
  portions: readonly Portion[],
  pace: Pace,
  sample: number | undefined,
): Promise<Times> {
  const { schedule, winnerBy, decideAfterSeconds } = broadcast
  const all = portions.reduce((sum, { recipients }) => sum + recipients, 0)
  const first = await forecastAll(sample === undefined ? portions : shareOf(portions, sample / all), pace)
  const { firstAt } = first
  const waits = first.holds.map(waitOf)
  if (sample === undefined || sample >= all || first.lastAt === null) return { firstAt, lastAt: first.lastAt, waits }
  if (winnerBy === 'manual')
    return { firstAt, lastAt: null, waits: [...waits, { cause: 'winner', name: null, until: null }] }
  const decidedAt = first.lastAt + decideAfterSeconds * 1000
  const later = shareOf(portions, 1 - sample / all).map((portion) => ({
    ...portion,
    startsAt: schedule.per_recipient ? +localStart(schedule.at!, portion.zone, new Date(decidedAt)) : decidedAt,
  }))
  const rest = await forecastAll(later.toSorted(byStart), { ...pace, limits: first.limits })
  const winner: PlannedWait = { cause: 'winner', name: null, until: new Date(decidedAt) }
  const others = rest.holds.filter(({ cause }) => waits.every((wait) => wait.cause !== cause))
  return { firstAt, lastAt: rest.lastAt, waits: [...waits, winner, ...others.map(waitOf)] }
}

const shareOf = (portions: readonly Portion[], share: number): Portion[] =>
  portions.map((portion) => ({ ...portion, recipients: Math.round(portion.recipients * share) }))

const waitOf = ({ cause, limit, until }: Hold): PlannedWait => ({
  cause,
  name: limit?.name ?? null,
  until: new Date(until),
})
