import { type Static, Type } from 'typebox'
import { parseUtm, UtmIn, UtmOut } from '../content/content.ts'
import { FreeObject, Named, Nullable, oneOf, Timestamp } from '../platform/http/envelope.ts'
import { outOf } from '../platform/http/out-of.ts'
import { Strict } from '../platform/http/unknown-fields.ts'
import { parseIdParam } from '../platform/values/id-params.ts'
import { nameMax } from '../platform/values/names.ts'
import { weekdays } from '../platform/values/weekly-window.ts'
import { type Broadcast, type BroadcastContent, broadcastStatuses, recipientStatuses } from './broadcasts.sql.ts'
import { countsOut } from './counts.ts'
import { scheduleNow } from './schedule.ts'
import { subjectMax, testFields, VariantKeyOut, VariantsIn, VariantsOut, variantsOut } from './variant-shapes.ts'
import { variantKeyOf } from './variants.ts'

const idsMax = 100
const messagesPerHourMax = 100_000_000

const Ids = Type.Array(Type.String(), { maxItems: idsMax })
const localTime = 'A local time in `time_zone` such as `2026-12-01T09:00`, or a time with an offset.'

const NotOpened = Type.String({
  description: 'A broadcast: those who got it and neither opened nor clicked, instead of groups and segments.',
})
const AllSubscribed = Type.Boolean({
  description: 'All subscribed contacts, instead of groups and segments.',
})
export const AudienceIn = Named('Audience', {
  group_ids: Type.Optional({ ...Ids, description: 'Groups whose members are in the audience.' }),
  segment_ids: Type.Optional(Ids),
  exclude_group_ids: Type.Optional(Ids),
  exclude_segment_ids: Type.Optional(Ids),
  all_subscribed: Type.Optional(AllSubscribed),
  not_opened_broadcast_id: Type.Optional(Nullable(NotOpened)),
})
const AudienceOut = Named('Audience', {
  group_ids: Ids,
  segment_ids: Ids,
  exclude_group_ids: Ids,
  exclude_segment_ids: Ids,
  all_subscribed: AllSubscribed,
  not_opened_broadcast_id: Nullable(NotOpened),
})

const Window = Named('SendingWindow', {
  days: Type.Array(oneOf(...weekdays), { minItems: 1, maxItems: 7, uniqueItems: true }),
  from: Type.String({ description: 'A time of day such as `08:00`.' }),
  to: Type.String({ description: 'Such as `18:00`, later than `from`. `24:00` is midnight.' }),
})
const scheduleFields = {
  at: Nullable(Type.String({ description: `${localTime} Null to send when the broadcast is started.` })),
  time_zone: Type.String({ description: 'An IANA time zone.' }),
  per_recipient: Type.Boolean({
    description:
      'Send at the local time of each recipient. Those without a time zone get it at the time in `time_zone`.',
  }),
  time_zone_attribute: Type.String({ description: 'The attribute of contacts that contains their time zone.' }),
  window: Nullable(Window),
}
const ScheduleIn = Type.Partial(Type.Object(scheduleFields), { title: 'Schedule' })
const ScheduleOut = Named('Schedule', scheduleFields)

export const ServiceAnnouncement = Type.Boolean({
  description:
    'A broadcast sends a marketing flow to subscribed contacts. With true, it sends a transactional flow, and contacts that unsubscribed receive it as well.',
})

const Subject = Nullable(
  Type.String({ maxLength: subjectMax, description: 'Replaces the subject of the flow. Null to keep it.' }),
)

const contentFields = {
  variants: VariantsIn,
  ...testFields,
  flow_id: Nullable(Type.String()),
  audience: AudienceIn,
  context: FreeObject,
  subject: Subject,
  utm: UtmIn,
  service_announcement: ServiceAnnouncement,
  schedule: ScheduleIn,
  messages_per_hour: Nullable(Type.Integer({ minimum: 1, maximum: messagesPerHourMax })),
  missed_after_seconds: Type.Integer({
    minimum: 60,
    maximum: 30 * 86_400,
    description: 'A broadcast that cannot start within this time after its planned time expires. One hour by default.',
  }),
}
const Name = Type.String({ minLength: 1, maxLength: nameMax })
export const BroadcastIn = Strict(Type.Object({ name: Name, ...Type.Partial(Type.Object(contentFields)).properties }))
const changeFields = Type.Partial(Type.Object({ name: Name, ...contentFields })).properties
export const BroadcastChanges = Strict(
  Type.Object(changeFields, { title: 'BroadcastChanges', description: 'The fields of a draft that change.' }),
)
export const BroadcastEdit = Strict(
  Type.Object(
    {
      ...changeFields,
      base_revision: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: 'The `revision` you read. If it has changed since, the response is 409.',
        }),
      ),
    },
    { title: 'BroadcastEdit', description: 'The fields of a broadcast that change.' },
  ),
)

const CountsOut = Named(
  'BroadcastCounts',
  Object.fromEntries(['recipients' as const, ...recipientStatuses].map((name) => [name, Type.Integer()])) as Record<
    'recipients' | (typeof recipientStatuses)[number],
    ReturnType<typeof Type.Integer>
  >,
  {
    description: 'The number of frozen recipients, and how many of them have which status. The statuses add up to it.',
  },
)

export const BroadcastOut = Named('Broadcast', {
  id: Type.String(),
  name: Type.String(),
  revision: Type.Integer({ description: 'Increases with every change.' }),
  status: oneOf(...broadcastStatuses),
  flow_id: Nullable(Type.String()),
  flow_version: Nullable(
    Type.Integer({ description: 'The version of the flow, pinned when the broadcast is started.' }),
  ),
  audience: AudienceOut,
  context: FreeObject,
  subject: Subject,
  utm: UtmOut,
  service_announcement: ServiceAnnouncement,
  schedule: ScheduleOut,
  messages_per_hour: Nullable(Type.Integer()),
  missed_after_seconds: Type.Integer(),
  variants: VariantsOut,
  ...testFields,
  decides_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the winner will be chosen; null until the sample is sent.' }),
  ),
  winner: Nullable(VariantKeyOut),
  starts_at: Nullable(Timestamp),
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  reason: Nullable(
    Type.String({
      description:
        'Why it is paused (`user`, `complaints`, `bounces`, `interrupted` or `failed`), or has expired or did not try its failed recipients again (`missed`, `not_ready`, `too_expensive` or `failed`); null otherwise.',
    }),
  ),
  detail: Nullable(Type.String({ description: 'The reason as a sentence.' })),
  recipients: Nullable(Type.Integer({ description: 'The number of frozen recipients; null before the start.' })),
  excluded: Nullable(
    Type.Integer({ description: 'Contacts of the audience that were unsubscribed or suppressed at the start.' }),
  ),
  counts: CountsOut,
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const emptyAudience = {
  group_ids: [],
  segment_ids: [],
  exclude_group_ids: [],
  exclude_segment_ids: [],
  all_subscribed: false,
  not_opened_broadcast_id: null,
}

export const broadcastOut = outOf(
  BroadcastOut,
  { id: 'brc', flow_id: 'flw' },
  {
    audience: ({ audience }: Broadcast) => ({ ...emptyAudience, ...audience }),
    variants: variantsOut,
    winner: ({ winner }: Broadcast) => variantKeyOf(winner),
    counts: countsOut,
  },
)

const missedAfterSecondsDefault = 3_600
const testPercentDefault = 20
const decideAfterSecondsDefault = 4 * 3_600

/** The content of a new broadcast. `timeZone` is that of the organization. */
export function contentOf(body: Static<typeof BroadcastIn>, timeZone: string): BroadcastContent {
  return {
    name: body.name,
    flowId: body.flow_id ? parseIdParam('flw', body.flow_id) : null,
    audience: { ...emptyAudience, ...body.audience },
    context: body.context ?? {},
    subject: body.subject ?? null,
    utm: parseUtm(body.utm),
    serviceAnnouncement: body.service_announcement ?? false,
    schedule: { ...scheduleNow, time_zone: timeZone, ...body.schedule },
    messagesPerHour: body.messages_per_hour ?? null,
    missedAfterSeconds: body.missed_after_seconds ?? missedAfterSecondsDefault,
    variants: (body.variants ?? []).map(({ subject = null, flow_version = null, share }) => ({
      subject,
      flow_version,
      share,
    })),
    testPercent: body.test_percent ?? testPercentDefault,
    winnerBy: body.winner_by ?? 'opens',
    decideAfterSeconds: body.decide_after_seconds ?? decideAfterSecondsDefault,
  }
}

/** The fields that are given. Objects are replaced as a whole. */
export function changesOf(body: Static<typeof BroadcastChanges>, timeZone: string): Partial<BroadcastContent> {
  const { name = '-', ...rest } = body
  const all = contentOf({ name, ...rest }, timeZone)
  return {
    ...(body.name !== undefined && { name: all.name }),
    ...(body.flow_id !== undefined && { flowId: all.flowId }),
    ...(body.audience !== undefined && { audience: all.audience }),
    ...(body.context !== undefined && { context: all.context }),
    ...(body.subject !== undefined && { subject: all.subject }),
    ...(body.utm !== undefined && { utm: all.utm }),
    ...(body.service_announcement !== undefined && { serviceAnnouncement: all.serviceAnnouncement }),
    ...(body.schedule !== undefined && { schedule: all.schedule }),
    ...(body.messages_per_hour !== undefined && { messagesPerHour: all.messagesPerHour }),
    ...(body.missed_after_seconds !== undefined && { missedAfterSeconds: all.missedAfterSeconds }),
    ...(body.variants !== undefined && { variants: all.variants }),
    ...(body.test_percent !== undefined && { testPercent: all.testPercent }),
    ...(body.winner_by !== undefined && { winnerBy: all.winnerBy }),
    ...(body.decide_after_seconds !== undefined && { decideAfterSeconds: all.decideAfterSeconds }),
  }
}
