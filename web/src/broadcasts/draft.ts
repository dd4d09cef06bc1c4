import type { BroadcastChanges, BroadcastDetail, Weekday } from '../api/types.ts'
import { type Sample, withValues } from '../flows/sample-data.ts'

/** What the form of a draft edits. Times and numbers are texts, as typed. */
export type Draft = {
  name: string
  flowId: string | null
  serviceAnnouncement: boolean
  /** The values that were typed, by the name of their variable. The others are as saved. */
  context: Sample
  groups: string[]
  segments: string[]
  excludedGroups: string[]
  excludedSegments: string[]
  when: When
  /** A local time such as 2026-12-01T09:00. */
  at: string
  timeZone: string
  timeZoneAttribute: string
  hasWindow: boolean
  days: Weekday[]
  from: string
  to: string
  ratePerHour: number | ''
  /** In seconds. */
  missedAfter: string
  /** Empty without an A/B test. */
  variants: DraftVariant[]
  testPercent: number | ''
  winnerBy: BroadcastDetail['winner_by']
  /** In seconds. */
  decideAfter: string
}
export type DraftVariant = {
  content: 'flow' | 'subject' | 'version'
  subject: string
  version: string | null
  share: number | ''
}
export const variantKeys = ['A', 'B', 'C', 'D'] as const
export const newVariant: DraftVariant = { content: 'subject', subject: '', version: null, share: 50 }
export const firstVariants: DraftVariant[] = [{ ...newVariant, content: 'flow' }, newVariant]
export type When = 'now' | 'at' | 'local'

export const weekdays: { value: Weekday; label: string }[] = [
  { value: 'mon', label: 'Mon' },
  { value: 'tue', label: 'Tue' },
  { value: 'wed', label: 'Wed' },
  { value: 'thu', label: 'Thu' },
  { value: 'fri', label: 'Fri' },
  { value: 'sat', label: 'Sat' },
  { value: 'sun', label: 'Sun' },
]
const workdays: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri']

export function draftOf(broadcast: BroadcastDetail): Draft {
  const { audience, schedule } = broadcast
  return {
    name: broadcast.name,
    flowId: broadcast.flow_id,
    serviceAnnouncement: broadcast.service_announcement,
    context: {},
    groups: audience.group_ids,
    segments: audience.segment_ids,
    excludedGroups: audience.exclude_group_ids,
    excludedSegments: audience.exclude_segment_ids,
    when: schedule.at === null ? 'now' : schedule.per_recipient ? 'local' : 'at',
    at: schedule.at === null ? '' : localTimeOf(schedule.at, schedule.time_zone),
    timeZone: schedule.time_zone,
    timeZoneAttribute: schedule.time_zone_attribute,
    hasWindow: schedule.window !== null,
    days: schedule.window?.days ?? workdays,
    from: schedule.window?.from ?? '09:00',
    to: schedule.window?.to ?? '18:00',
    ratePerHour: broadcast.messages_per_hour ?? '',
    missedAfter: String(broadcast.missed_after_seconds),
    variants: broadcast.variants.map(({ subject, flow_version: version, share }) => ({
      content: subject !== null ? 'subject' : version !== null ? 'version' : 'flow',
      subject: subject ?? '',
      version: version === null ? null : String(version),
      share,
    })),
    testPercent: broadcast.test_percent,
    winnerBy: broadcast.winner_by,
    decideAfter: String(broadcast.decide_after_seconds),
  }
}

export function changesOf(draft: Draft, broadcast: BroadcastDetail): BroadcastChanges {
  return {
    name: draft.name.trim(),
    flow_id: draft.flowId,
    service_announcement: draft.serviceAnnouncement,
    audience: {
      group_ids: draft.groups,
      segment_ids: draft.segments,
      exclude_group_ids: draft.excludedGroups,
      exclude_segment_ids: draft.excludedSegments,
    },
    // Includes values that no field shows now: a subject may be half edited, and the API may have set others.
    ...(Object.keys(draft.context).length > 0 && { context: withValues(broadcast.context, draft.context) }),
    schedule: {
      at: draft.when === 'now' ? null : draft.at,
      time_zone: draft.timeZone,
      per_recipient: draft.when === 'local',
      time_zone_attribute: draft.timeZoneAttribute,
      window: draft.hasWindow ? { days: draft.days, from: draft.from, to: draft.to } : null,
    },
    messages_per_hour: draft.ratePerHour === '' ? null : draft.ratePerHour,
    missed_after_seconds: Number(draft.missedAfter),
    variants: draft.variants.map(({ content, subject, version, share }) => ({
      subject: content === 'subject' ? subject : null,
      flow_version: content === 'version' ? Number(version) : null,
      share: Number(share),
    })),
    test_percent: Number(draft.testPercent),
    winner_by: draft.winnerBy,
    decide_after_seconds: Number(draft.decideAfter),
  }
}

/** Whether a planned time is given and has passed. */
export const isPast = ({ when, at, timeZone }: Draft) => when !== 'now' && at !== '' && at <= nowIn(timeZone)

/** The local time of a zone, now or some days later, as the field of a time has it. */
export const nowIn = (timeZone: string, daysLater = 0) =>
  localTimeOf(new Date(Date.now() + daysLater * 86_400_000).toISOString(), timeZone)

/** The API also accepts a time with an offset. */
const localTimeOf = (at: string, timeZone: string) =>
  (/(Z|[+-]\d\d:\d\d)$/i.test(at) ? new Date(at).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T') : at).slice(
    0,
    16,
  )

export const isSame = (a: Draft, b: Draft) => JSON.stringify(a) === JSON.stringify(b)
