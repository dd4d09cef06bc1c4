import { Type } from 'typebox'
import { Named, Nullable, oneOf } from './envelope.ts'

const BounceOut = Named(
  'BounceDetail',
  {
    type: Type.Optional(oneOf('hard', 'soft')),
    status: Type.Optional(Nullable(Type.String({ description: 'RFC 3463 status such as 5.1.1.' }))),
    reply_code: Type.Optional(Nullable(Type.Integer({ description: 'SMTP reply code such as 550.' }))),
    reason: Type.Optional(Nullable(Type.String({ description: 'For example user_unknown, mailbox_full or blocked.' }))),
    diagnostic: Type.Optional(
      Nullable(
        Type.String({ description: 'The text of the mail system, truncated. Removed if the contact is erased.' }),
      ),
    ),
    confidence: Type.Optional(
      Type.Unsafe<'high' | 'medium' | 'low'>({
        type: 'string',
        enum: ['high', 'medium', 'low'],
        description:
          'How certain the classification is. A bounce of low confidence is always soft. Missing if the email was deferred too often.',
      }),
    ),
    evidence: Type.Optional(
      Nullable(
        Type.String({
          description:
            'The line of the SMTP reply or bounce email that determined the classification. Null if no line did. Removed if the contact is erased.',
        }),
      ),
    ),
  },
  { additionalProperties: true, description: 'Only for emailHardBounce and emailSoftBounce.' },
)

/** The `data` of an event. Fields that are not described here are passed through. */
export const EventDataOut = Type.Unsafe<Record<string, unknown>>({
  title: 'EventDetails',
  type: 'object',
  description: 'Depends on the event type; `GET /event-types` has examples.',
  properties: { bounce: BounceOut },
  additionalProperties: true,
})
