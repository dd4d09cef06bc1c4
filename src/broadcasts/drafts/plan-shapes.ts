import { Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { VariantKeyOut } from '../variant-shapes.ts'
import type { Batch, Plan } from './plan.ts'

const PlannedEmailOut = Named('PlannedEmail', {
  variant: Nullable(VariantKeyOut),
  share: Nullable(Type.Integer({ description: 'The percentage of the sample that gets the variant.' })),
  from_name: Nullable(Type.String()),
  from_email: Type.String(),
  subject: Type.String({ description: 'The subject as a template.' }),
  example_subject: Nullable(
    Type.String({ description: 'The subject as the first recipient gets it. Null if nobody has all variables.' }),
  ),
})

const PlannedLimitOut = Named('PlannedLimit', {
  kind: oneOf('messages_per_hour', 'mail_server', 'warm_up', 'receiving_sites'),
  name: Nullable(Type.String({ description: 'The mail server, or the domain that is warmed up.' })),
  messages_per_second: Nullable(Type.Number()),
  messages_per_day: Nullable(Type.Integer({ description: 'The most emails today, in UTC.' })),
  left_today: Nullable(Type.Integer({ description: 'How many more may leave today. Other emails count as well.' })),
})

const PlannedBatchOut = Named('PlannedBatch', {
  part: {
    ...oneOf('all', 'sample', 'rest'),
    description: '`sample`: the recipients that get the variants first. `rest`: those that get the winner.',
  },
  recipients: Type.Integer(),
  estimated: Type.Boolean({ description: 'True if the number of recipients is an estimate.' }),
  starts_at: Nullable(
    Type.String({ format: 'date-time', description: 'Null if a person starts it by choosing the winner.' }),
  ),
  ends_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'About when the last email leaves. Null if the speed is not known.',
    }),
  ),
  waits_for: {
    ...oneOf('start', 'local_time', 'sending_hours', 'daily_limit', 'winner'),
    description: 'Why it does not start earlier. `start`: it is the first.',
  },
})

export const PlanOut = Named(
  'BroadcastPlan',
  {
    time_zone: Type.String({ description: 'The time zone of the organization.' }),
    starts_at: Nullable(Type.String({ format: 'date-time', description: 'Null if it starts at once.' })),
    emails: Type.Array(PlannedEmailOut, { description: 'The email, or one for each variant.' }),
    messages_per_hour: Nullable(
      Type.Integer({ description: 'The highest speed. Null if only the mail server limits it.' }),
    ),
    usual_messages_per_hour: Nullable(
      Type.Integer({
        description:
          'The speed of the fastest of your recent broadcasts with 500 recipients or more. Times are estimated with it. Null if there is none, or if `messages_per_hour` is not higher.',
      }),
    ),
    limits: Type.Array(PlannedLimitOut, {
      description:
        'What slows it down. The limits of receiving sites depend on the addresses, so the times do not include them.',
    }),
    batches: Type.Array(PlannedBatchOut, {
      description: 'Who gets it when: emails that leave without a break are a batch. At most 12 are listed.',
    }),
    later_batches: Type.Integer({ description: 'How many batches follow.' }),
    later_recipients: Type.Integer(),
    ends_at: Nullable({ ...Timestamp, description: 'About when the last email leaves. Null if it is not known.' }),
    other_broadcasts: Type.Integer({
      description:
        'How many other broadcasts of the organization may be sent at the same time: those in progress, and those that start within the day before it, or before it ends. They share the mail server and its limits. The times do not include them.',
    }),
  },
  { description: 'What would happen if the broadcast was started now.' },
)

const emailOut = outOf(PlannedEmailOut, {})
const limitOut = outOf(PlannedLimitOut, {})
const batchOut = outOf(PlannedBatchOut, {}, { estimated: ({ isEstimate }: Batch) => isEstimate })

export const planOut = outOf(
  PlanOut,
  {},
  {
    emails: ({ emails }: Plan) => emails.map(emailOut),
    limits: ({ limits }: Plan) => limits.map(limitOut),
    batches: ({ batches }: Plan) => batches.map(batchOut),
  },
)
