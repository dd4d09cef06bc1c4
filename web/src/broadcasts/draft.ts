import type { BroadcastDetail, BroadcastEdit, Weekday } from '../api/types.ts'
import { type Sample, withValues } from '../content/flows/sample-data.ts'
import { typedUtm, type UtmName, utmOf } from '../content/flows/utm.ts'

/** What the form of a draft edits, with the names of the API. Times and numbers are texts, as typed. */
export type Draft = {
  /** The revision that the changes are based on. */
  base_revision: number
  name: string
  flow_id: string | null
  /** Empty for the subject of the flow. */
  subject: string
  /** Empty for those of the flow. */
  utm: Record<UtmName, string>
  service_announcement: boolean
  /** The values that were typed, by the name of their variable. The others are as saved. */
  context: Sample
  audience: BroadcastDetail['audience']
  schedule: {
    when: When
    /** A local time such as 2026-12-01T09:00. */
    at: string
    time_zone: string
    time_zone_attribute: string
    has_window: boolean
    window: { days: Weekday[]; from: string; to: string }
  }
  messages_per_hour: number | ''
  missed_after_seconds: string
  /** Empty without an A/B test. */
  variants: DraftVariant[]
  test_percent: number | ''
  winner_by: BroadcastDetail['winner_by']
  decide_after_seconds: string
}
export type DraftVariant = {
  content: 'flow' | 'subject' | 'version'
  subject: string
  flow_version: string | null
  share: number | ''
}
export const variantKeys = ['A', 'B', 'C', 'D'] as const
export const newVariant: DraftVariant = { content: 'subject', subject: '', flow_version: null, share: 50 }
export const firstVariants: DraftVariant[] = [{ ...newVariant, content: 'flow' }, newVariant]
type When = 'now' | 'at' | 'local'

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
  const { schedule } = broadcast
  return {
    base_revision: broadcast.revision,
    name: broadcast.name,
    flow_id: broadcast.flow_id,
    subject: broadcast.subject ?? '',
    utm: typedUtm(broadcast.utm),
    service_announcement: broadcast.service_announcement,
    context: {},
    audience: broadcast.audience,
    schedule: {
      when: schedule.at === null ? 'now' : schedule.per_recipient ? 'local' : 'at',
      at: schedule.at === null ? '' : localTimeOf(schedule.at, schedule.time_zone),
      time_zone: schedule.time_zone,
      time_zone_attribute: schedule.time_zone_attribute,
      has_window: schedule.window !== null,
      window: schedule.window ?? { days: workdays, from: '09:00', to: '18:00' },
    },
    messages_per_hour: broadcast.messages_per_hour ?? '',
    missed_after_seconds: String(broadcast.missed_after_seconds),
    variants: broadcast.variants.map(({ subject, flow_version: version, share }) => ({
      content: subject !== null ? 'subject' : version !== null ? 'version' : 'flow',
      subject: subject ?? '',
      flow_version: version === null ? null : String(version),
      share,
    })),
    test_percent: broadcast.test_percent,
    winner_by: broadcast.winner_by,
    decide_after_seconds: String(broadcast.decide_after_seconds),
  }
}

export function changesOf({ context, ...draft }: Draft, broadcast: BroadcastDetail): BroadcastEdit {
  const { when, at, has_window, window, ...zones } = draft.schedule
  return {
    ...draft,
    name: draft.name.trim(),
    subject: draft.subject.trim() || null,
    utm: utmOf(draft.utm),
    // Includes values that no field shows now: a subject may be half edited, and the API may have set others.
    ...(Object.keys(context).length > 0 && { context: withValues(broadcast.context, context) }),
    schedule: {
      ...zones,
      at: when === 'now' ? null : at,
      per_recipient: when === 'local',
      window: has_window ? window : null,
    },
    messages_per_hour: draft.messages_per_hour === '' ? null : draft.messages_per_hour,
    missed_after_seconds: Number(draft.missed_after_seconds),
    variants: draft.variants.map(({ content, subject, flow_version: version, share }) => ({
      subject: content === 'subject' ? subject : null,
      flow_version: content === 'version' ? Number(version) : null,
      share: Number(share),
    })),
    test_percent: Number(draft.test_percent),
    decide_after_seconds: Number(draft.decide_after_seconds),
  }
}

/** The planned time of a broadcast. */
export type PlannedTime = Pick<Draft['schedule'], 'when' | 'at' | 'time_zone'>

/** Whether a planned time is given and has passed. */
export const isPast = ({ schedule: { when, at, time_zone } }: { schedule: PlannedTime }) =>
  when !== 'now' && at !== '' && at <= nowIn(time_zone)

/** The local time of a zone, now or some days later, as the field of a time has it. */
export const nowIn = (timeZone: string, daysLater = 0) =>
  localTimeOf(new Date(Date.now() + daysLater * 86_400_000).toISOString(), timeZone)

/** The API also accepts a time with an offset. */
const localTimeOf = (at: string, timeZone: string) =>
  (/(Z|[+-]\d\d:\d\d)$/i.test(at) ? new Date(at).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T') : at).slice(
    0,
    16,
  )

export const isSame = (a: Draft, b: Draft) =>
  JSON.stringify({ ...a, base_revision: 0 }) === JSON.stringify({ ...b, base_revision: 0 })

/** The fields of the form that differ from the saved ones, and their revision. */
export function editOf(draft: Draft, saved: Draft, broadcast: BroadcastDetail): BroadcastEdit {
  const before = changesOf(saved, broadcast)
  const isChanged = ([name, value]: [string, unknown]) =>
    name === 'base_revision' || JSON.stringify(value) !== JSON.stringify(before[name as keyof BroadcastEdit])
  return Object.fromEntries(Object.entries(changesOf(draft, broadcast)).filter(isChanged))
}

/** The newer draft, with the changes that were made to the saved one. */
export function rebase(draft: Draft, saved: Draft, newer: Draft): Draft {
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(saved[name as keyof Draft])
  return {
    ...newer,
    ...Object.fromEntries(Object.entries(draft).filter(isChanged)),
    base_revision: newer.base_revision,
  }
}
