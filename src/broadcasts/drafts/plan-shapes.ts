import { Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { VariantKeyOut } from '../variant-shapes.ts'
import type { Plan } from './plan.ts'

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

const PlannedWaitOut = Named('PlannedWait', {
  cause: oneOf('local_time', 'sending_hours', 'messages_per_hour', 'daily_limit', 'limit', 'winner'),
  name: Nullable(Type.String({ description: 'The mail server, or the domain that is warmed up.' })),
  until: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the first wait of this kind ends. Null if a person ends it by choosing the winner.',
    }),
  ),
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
    receiving_limits: Type.Boolean({
      description:
        'Whether there are limits of receiving sites. These depend on the addresses, so the times do not include them.',
    }),
    sample: Nullable(
      Type.Integer({ description: 'The recipients that get the variants before the winner. Null without a test.' }),
    ),
    waits: Type.Array(PlannedWaitOut, { description: 'Why not all emails leave at once, and until when.' }),
    first_email_at: { ...Timestamp, description: 'When the first email leaves.' },
    ends_at: Nullable({ ...Timestamp, description: 'About when the last email leaves. Null if it is not known.' }),
    other_broadcasts: Type.Integer({
      description:
        'How many other broadcasts of the organization may be sent at the same time: those in progress, and those that start within the day before it, or before it ends. They share the mail server and its limits. The times do not include them.',
    }),
  },
  { description: 'What would happen if the broadcast was started now.' },
)

const emailOut = outOf(PlannedEmailOut, {})
const waitOut = outOf(PlannedWaitOut, {})

export const planOut = outOf(
  PlanOut,
  {},
  {
    emails: ({ emails }: Plan) => emails.map(emailOut),
    receiving_limits: ({ hasSiteLimits }: Plan) => hasSiteLimits,
    waits: ({ waits }: Plan) => waits.map(waitOut),
  },
)
