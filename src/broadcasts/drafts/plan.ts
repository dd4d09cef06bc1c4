import type { ReadyVersion } from '../../content/content.ts'
import { OpenLimit } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { isTimeZone } from '../../platform/values/time-zone.ts'
import { senderOf } from '../../sending/sending.ts'
import { countSample } from '../audience/audience.sql.ts'
import { countOtherBroadcasts } from '../audience/other-broadcasts.sql.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { splitOf } from '../prepare.ts'
import { localStart, plannedStart, sameTimeZone } from '../schedule.ts'
import {
  type Cause,
  type Forecast,
  forecast,
  hasDailyLimit,
  isSpeedKnown,
  limitedPerHour,
  type Pace,
  type Portion,
  type SharedLimit,
} from '../sending/forecast.ts'
import { type AppliedLimit, type AppliedLimits, findLimits, type LimitParts } from '../sending/plan-limits.ts'
import { kindOf } from '../sending/service-announcements.ts'
import { findUsualSpeed } from '../sending/usual-speed.sql.ts'
import { hasWinner, type VariantKey, variantKeyOf } from '../variants.ts'

const batchesMax = 12

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

export type PlannedLimit = {
  kind: 'messages_per_hour' | 'mail_server' | 'warm_up' | 'receiving_sites'
  name: string | null
  messagesPerSecond: number | null
  messagesPerDay: number | null
  /** Emails that may still leave on this day. */
  leftToday: number | null
}

export type Batch = {
  part: 'all' | 'sample' | 'rest'
  recipients: number
  isEstimate: boolean
  /** Null if a user starts it by choosing the winner. */
  startsAt: Date | null
  /** Null if the speed is not known. */
  endsAt: Date | null
  waitsFor: Cause | 'winner'
}

export type Plan = {
  /** Null if it starts at once. */
  startsAt: Date | null
  emails: PlannedEmail[]
  /** Null if only the mail server limits the speed. */
  messagesPerHour: number | null
  /** The speed of recent broadcasts, if there are any and the limits allow more. */
  usualMessagesPerHour: number | null
  limits: PlannedLimit[]
  batches: Batch[]
  /** Batches that follow, with their recipients. */
  laterBatches: number
  laterRecipients: number
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
  const { limits, together, hasSiteLimits } = await limitsOfSenders(parts, broadcast, emails)
  const perHour = limitedPerHour({ messagesPerHour, limits: together })
  const usual = await parts.read(organizationId, (db) => findUsualSpeed(db, organizationId))
  const usualPerHour = usual ? Math.round(usual * 3_600) : null
  const usualSpacingMs = usual ? 1000 / usual : 0
  const pace: Pace = { window: schedule.window, messagesPerHour, limits: together, usualSpacingMs }
  const startsAt = plannedStart(schedule, now) ?? null
  const portions = await portionsOf(broadcast, counted, +(startsAt ?? now))
  const split = hasWinner(broadcast) ? splitOf(broadcast) : undefined
  const sample = split && (await parts.read(organizationId, (db) => countSample(db, counted.recipients, split)))
  const batches = await batchesOf(broadcast, pace, portions, sample)
  const later = batches.items.slice(batchesMax)
  const endsAt = batches.isComplete ? (batches.items.at(-1)?.endsAt ?? null) : null
  const from = startsAt ?? now
  const span = { from, until: endsAt ?? from }
  const others = await parts.read(organizationId, (db) => countOtherBroadcasts(db, broadcast, span))
  return {
    startsAt,
    emails,
    messagesPerHour: perHour,
    usualMessagesPerHour: perHour !== null && usualPerHour !== null && usualPerHour >= perHour ? null : usualPerHour,
    limits: [
      ...(messagesPerHour === null ? [] : [{ ...noLimit, kind: 'messages_per_hour' as const }]),
      ...limits.map((limit) => limitOut(limit, +now)),
      ...(hasSiteLimits ? [{ ...noLimit, kind: 'receiving_sites' as const }] : []),
    ],
    batches: batches.items.slice(0, batchesMax),
    laterBatches: later.length,
    laterRecipients: later.reduce((sum, { recipients }) => sum + recipients, 0),
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
): Promise<AppliedLimits> {
  const { organizationId, now } = broadcast
  const limits = new Map<string, AppliedLimit>()
  const together = new Map<string, SharedLimit>()
  let hasSiteLimits = false
  for (const from of new Set(emails.map(({ fromEmail }) => fromEmail))) {
    const email = { organizationId, kind: kindOf(broadcast), from }
    const found = await findLimits(parts, email, +now)
    for (const limit of found.limits) limits.set(limit.limit.key, limit)
    for (const limit of found.together) together.set(limit.limit.key, limit)
    hasSiteLimits ||= found.hasSiteLimits
  }
  return { limits: [...limits.values()], together: [...together.values()], hasSiteLimits }
}

const noLimit = { name: null, messagesPerSecond: null, messagesPerDay: null, leftToday: null }

function limitOut({ kind, limit, use }: AppliedLimit, now: number): PlannedLimit {
  const open = new OpenLimit(limit, use, now)
  return {
    kind,
    name: limit.name,
    messagesPerSecond: limit.perSecond,
    messagesPerDay: open.perDay,
    leftToday: open.perDay === null ? null : Math.floor(open.room),
  }
}

type PlannedPortion = Portion & { at: string | null }

/** The recipients by the time from which they get the email, as they will be divided into parts. */
async function portionsOf(
  { schedule }: Broadcast,
  { recipients, zones }: Counted,
  startsAt: number,
): Promise<PlannedPortion[]> {
  const { at, time_zone: fallback } = schedule
  if (!schedule.per_recipient || at === null) return [{ startsAt, zone: fallback, recipients, at: null }]
  const groups: Record<string, string> = {}
  const counts = new Map<string, number>()
  const add = (zone: string, count: number) => {
    const group = sameTimeZone(groups, at, zone)
    counts.set(group, (counts.get(group) ?? 0) + count)
  }
  let others = recipients
  const pacer = new Pacer()
  for (const [zone, count] of zones) {
    if (pacer.isDue) await pacer.turn()
    if (!isTimeZone(zone)) continue
    add(zone, count)
    others -= count
  }
  add(fallback, others)
  return [...counts].map(([zone, count]) => ({
    startsAt: Math.max(startsAt, +localStart(at, zone)),
    zone,
    recipients: count,
    at,
  }))
}

type Batches = { items: Batch[]; isComplete: boolean }

/** `sample` is undefined if all recipients get the email at once. */
async function batchesOf(
  broadcast: Broadcast,
  pace: Pace,
  portions: readonly PlannedPortion[],
  sample: number | undefined,
): Promise<Batches> {
  if (sample === undefined) {
    const all = await forecast(portions, pace)
    return { items: batchesIn(all, pace, 'all'), isComplete: all.isComplete }
  }
  const { first, rest } = divide(portions, sample)
  const isDivided = portions.length > 1
  const sent = await forecast(first, pace)
  const items = batchesIn(sent, pace, 'sample', isDivided)
  const left = rest.reduce((sum, { recipients }) => sum + recipients, 0)
  if (left === 0 || !sent.isComplete) return { items, isComplete: sent.isComplete }
  const waiting: Batch = {
    part: 'rest',
    recipients: left,
    isEstimate: false,
    startsAt: null,
    endsAt: null,
    waitsFor: 'winner',
  }
  if (broadcast.winnerBy === 'manual') return { items: [...items, waiting], isComplete: true }
  const decidedAt = sent.stretches.at(-1)!.endsAt + broadcast.decideAfterSeconds * 1000
  const later = rest.map((portion) => ({
    ...portion,
    startsAt: portion.at === null ? decidedAt : +localStart(portion.at, portion.zone, new Date(decidedAt)),
  }))
  const followed = await forecast(later, { ...pace, limits: sent.limits })
  // At their local time, they wait longer than for the winner.
  const reason = broadcast.schedule.per_recipient ? 'local_time' : 'winner'
  const others = batchesIn(followed, pace, 'rest', isDivided).map((batch) =>
    batch.waitsFor === 'start' ? { ...batch, waitsFor: reason as Batch['waitsFor'] } : batch,
  )
  return { items: [...items, ...others], isComplete: followed.isComplete }
}

/** Divides the recipients of each portion in the same proportion. */
function divide(portions: readonly PlannedPortion[], sample: number) {
  const all = portions.reduce((sum, { recipients }) => sum + recipients, 0)
  const first: PlannedPortion[] = []
  const rest: PlannedPortion[] = []
  let before = 0
  let sampled = 0
  for (const portion of portions) {
    before += portion.recipients
    const end = all === 0 ? 0 : Math.round((sample * before) / all)
    first.push({ ...portion, recipients: end - sampled })
    rest.push({ ...portion, recipients: portion.recipients - (end - sampled) })
    sampled = end
  }
  return { first, rest }
}

function batchesIn({ stretches }: Forecast, pace: Pace, part: Batch['part'], isDivided = false): Batch[] {
  const hasSpeed = isSpeedKnown(pace)
  const isEstimate = stretches.length > 1 && (isDivided || hasSpeed || hasDailyLimit(pace))
  return stretches.map(({ startsAt, endsAt, recipients, cause }) => ({
    part,
    recipients,
    isEstimate,
    startsAt: new Date(startsAt),
    endsAt: hasSpeed ? new Date(endsAt) : null,
    waitsFor: cause,
  }))
}
