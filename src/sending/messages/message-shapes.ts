import { Type } from 'typebox'
import { deliveryStatuses } from '../../events/events.ts'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { EventDataOut } from '../../platform/http/event-data.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import { TagSchema } from '../acceptance/email-input.ts'
import { AttachmentOut } from '../attachments/attachment-shapes.ts'
import { engagements } from './engagement.ts'
import { messageStatuses } from './message-filter.sql.ts'

export const EventOut = Named('MessageEvent', {
  id: Type.String(),
  event_name: oneOf(...eventNames),
  occurred_at: Timestamp,
  machine: Type.Boolean(),
  machine_reason: Nullable(Type.String()),
  data: EventDataOut,
})
export const MessageOut = Named('Message', {
  id: Type.String(),
  flow_id: Type.String(),
  flow_name: Nullable(Type.String()),
  broadcast: Nullable(
    Named(
      'MessageBroadcast',
      { id: Type.String(), name: Type.String() },
      { description: 'The broadcast that the email belongs to; null for other emails.' },
    ),
  ),
  contact: Named('MessageRecipient', {
    id: Nullable(Type.String({ description: 'Null for a test email to an address without a contact.' })),
    email: Type.String(),
  }),
  subject: Type.String(),
  status: oneOf(...messageStatuses),
  engagement: Nullable({
    ...oneOf(...engagements),
    description:
      'How far the email got. `delivered`: sent, and no bounce is known. `opened` and `clicked` are by people: automated opens and clicks do not count. Null if it was not sent, and for test emails.',
  }),
  first_opened_at: Nullable(Timestamp),
  first_clicked_at: Nullable(Timestamp),
  reason: Nullable(Type.String()),
  is_test: Type.Boolean({ description: 'Test emails count in no metrics and have no events.' }),
  queued_at: Timestamp,
  sent_at: Nullable(Timestamp),
  send_at: Nullable(
    Type.String({ format: 'date-time', description: 'The time for which the email is or was scheduled.' }),
  ),
  waiting: Nullable(
    Named(
      'MessageWaiting',
      {
        cause: oneOf('broadcast_paused', 'mail_server_unreachable', 'limit', 'deferred', 'queued'),
        detail: Nullable(
          Type.String({
            description:
              'The last reply of the mail server, the limit that was reached, why the mail server cannot be reached, or why it is tried again. Of the mail server of the installation, only its operators see that.',
          }),
        ),
        next_attempt_at: Nullable(
          Type.String({
            format: 'date-time',
            description:
              'Null if it is due now, or if its broadcast is paused. In lists, also if it is behind thousands of others.',
          }),
        ),
        attempts: Type.Integer({ description: 'Attempts that the mail server deferred.' }),
      },
      { description: 'Why a queued email has not been sent yet; null for other statuses.' },
    ),
  ),
  events: Type.Array(EventOut),
})
export const MessageDeliveryOut = Named('MessageDelivery', {
  id: Type.String(),
  webhook_id: Type.String(),
  webhook_name: Type.String(),
  event_name: oneOf(...eventNames),
  status: oneOf(...deliveryStatuses),
  attempt_count: Type.Integer(),
  next_attempt_at: Nullable(Timestamp),
  reason: Nullable(Type.String()),
})
export const MessageDetailOut = Named('MessageDetails', {
  ...MessageOut.properties,
  flow_version: Nullable(Type.Integer({ description: 'Null for the test of a draft.' })),
  from: Type.String(),
  cc: Type.Array(Type.String(), { description: 'Other recipients that all recipients see.' }),
  to: Type.Array(Type.String(), { description: 'The header To, if the email was not sent through a flow.' }),
  tags: Type.Array(TagSchema),
  attachments: Type.Array(AttachmentOut),
  is_without_flow: Type.Boolean({ description: 'Whether it was sent without a flow.' }),
  email_id: Nullable(Type.String({ description: 'What the messages of an email without a flow have in common.' })),
  html: Nullable(
    Type.String({
      description:
        'Rendered without the tracking pixel and tracked links, so viewing it counts as neither open nor click.',
    }),
  ),
  text: Nullable(Type.String()),
  is_content_deleted: Type.Boolean({
    description:
      'Whether this email without a flow was sent more than 30 days ago, so that its content was deleted. `html` and `text` are null then.',
  }),
  delivered_to: Nullable({
    ...oneOf('inbox', 'mail_server', 'simulator'),
    description:
      'Where the email was delivered; null until then, and after the contact was erased. `simulator`: to a test recipient.',
  }),
  mail_server: Nullable(
    Named(
      'MessageMailServer',
      { id: Type.String(), name: Nullable(Type.String({ description: 'Null if it was deleted since.' })) },
      {
        description:
          'The mail server of the organization that carried the email, or the only one that may, because it may have accepted it already. Null for the mail server of the installation.',
      },
    ),
  ),
  relay_response: Nullable(Type.String({ description: 'The last reply of the mail server.' })),
  context: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The variables that the email was sent with; null after the contact was erased.',
    }),
  ),
  in_inbox: Type.Boolean({ description: 'Whether the email is in the built-in inbox.' }),
  webhook_deliveries: Type.Array(MessageDeliveryOut, {
    description: 'Deliveries of its events to webhooks, oldest first, at most 200.',
  }),
})
