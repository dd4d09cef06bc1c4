import type { Schema, Webhook } from '../../platform/http/types.ts'
import { eventTypes, type WebhookEventName, webhookEventNames } from '../../platform/values/event-types.ts'

const text = (description: string) => ({ type: 'string', description })
const nullable = (description: string, type = 'string') => ({ type: [type, 'null'], description })
const object = (title: string, properties: Record<string, Schema>, optional: string[] = []): Schema => ({
  title,
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

const contact = object('EventContact', {
  id: text('The contact, `con_…`.'),
  email: nullable('Null after the contact was erased.'),
  first_name: nullable('Null if unknown, and after the contact was erased.'),
})

/** Fields of every event. `test` is only present in test events. */
const common: Record<string, Schema> = {
  event_id: text('The event, `evt_…`. The same for all webhooks and attempts.'),
  message_id: nullable('The message, `msg_…`. Null if the event does not belong to a message.'),
  flow_id: nullable('The flow, `flw_…`. Null if the event does not belong to a message.'),
  contact,
  test: { type: 'boolean', description: 'True. Only present in test events.' },
}

/** Fields of the events of emails and unsubscriptions. */
const messageSchemas: Record<string, Schema> = {
  is_test: { type: 'boolean', description: 'True. Only present in events of reserved test recipients.' },
}

const reaction: Record<string, Schema> = {
  machine: {
    type: 'boolean',
    description: 'Whether the event is automated: caused by a scanner or privacy proxy instead of a person.',
  },
  user_agent: nullable('The user agent of the request. Null if it sent none.'),
  ip: nullable('The address of the client. Only present if the organization stores addresses (`keep_addresses`).'),
}

const bounce = object(
  'Bounce',
  {
    type: { type: 'string', enum: ['hard', 'soft'] },
    status: nullable('The RFC 3463 status, such as `5.1.1`.'),
    reply_code: nullable('The SMTP reply code, such as 550.', 'integer'),
    reason: text('For example `user_unknown`, `mailbox_full` or `blocked`.'),
    diagnostic: nullable('The text of the mail system, truncated.'),
    confidence: { type: 'string', enum: ['high', 'medium', 'low'], description: 'How certain the classification is.' },
    evidence: nullable('The line that determined the classification.'),
  },
  ['confidence', 'evidence'],
)

const source: Schema = {
  title: 'ChangeSource',
  type: ['object', 'null'],
  description: 'What caused the change. Null if the contact was created by sending an email to a new address.',
  required: ['type', 'id'],
  properties: {
    type: { type: 'string', enum: ['user', 'api_key', 'import', 'recipient', 'system'] },
    id: nullable('The user, `usr_…`, the API key, `key_…`, or the import, `imp_…`.'),
  },
}
const subscription = {
  type: 'string',
  enum: ['subscribed', 'not_subscribed', 'unsubscribed'],
  description: 'Whether the contact receives marketing email.',
}

const count = { type: 'integer' }
const broadcast: Record<string, Schema> = {
  message_id: nullable('Always null.'),
  flow_id: text('The flow that is sent, `flw_…`.'),
  contact: nullable('Always null.', 'object'),
  id: text('The broadcast, `brc_…`.'),
  name: text('Its name.'),
  status: text('Its status.'),
  counts: object('BroadcastCounts', {
    ...{ recipients: count, pending: count, queued: count, sent: count, bounced: count, suppressed: count },
    ...{ unsubscribed: count, failed: count, cancelled: count },
  }),
}

const mailServer: Record<string, Schema> = {
  message_id: nullable('Always null.'),
  flow_id: nullable('Always null.'),
  contact: nullable('Always null.', 'object'),
  id: text('The mail server, `mse_…`.'),
  name: text('Its name.'),
  host: text('Its host.'),
  reason: nullable('Why it does not accept email. Null if it accepts email again.'),
  since: text('Since when, or from when until now.'),
}

/** The additional fields of each event type. A new event type does not compile without an entry. */
const extraFields: Record<WebhookEventName, Record<string, Schema>> = {
  emailSent: messageSchemas,
  emailOpen: { ...reaction, ...messageSchemas },
  emailClick: { ...reaction, url: text('The link that was clicked.'), ...messageSchemas },
  emailSoftBounce: { bounce, ...messageSchemas },
  emailHardBounce: { bounce, ...messageSchemas },
  emailComplaint: { feedback_type: text('The type in the report, such as `abuse`.'), ...messageSchemas },
  contactUnsubscribe: {
    ...messageSchemas,
    method: {
      type: 'string',
      enum: ['one_click', 'page', 'api'],
      description: 'The button of the mail client, the unsubscribe page, or the API and the web app.',
    },
  },
  contactCreated: { source, subscription },
  contactUpdated: {
    source,
    fields: {
      type: 'array',
      items: { type: 'string', enum: ['email', 'first_name', 'last_name', 'attributes'] },
      description: 'The fields that were changed.',
    },
  },
  contactSubscribed: { source, subscription },
  broadcastStarted: broadcast,
  broadcastFinished: broadcast,
  domainStatusChanged: {
    message_id: nullable('Always null.'),
    flow_id: nullable('Always null.'),
    contact: nullable('Always null.', 'object'),
    id: text('The domain, `dom_…`.'),
    name: text('Its name.'),
    status: { type: 'string', enum: ['verified', 'warning', 'unverified'] },
  },
  mailServerFailing: mailServer,
  mailServerRecovered: mailServer,
}

/** Of event types with the same data. */
const dataNames: Partial<Record<WebhookEventName, string>> = {
  emailSoftBounce: 'EmailBounceData',
  emailHardBounce: 'EmailBounceData',
  contactCreated: 'ContactSubscriptionData',
  contactSubscribed: 'ContactSubscriptionData',
  broadcastStarted: 'BroadcastEventData',
  broadcastFinished: 'BroadcastEventData',
  mailServerFailing: 'MailServerEventData',
  mailServerRecovered: 'MailServerEventData',
}
const upperFirst = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`

const payloadOf = (eventName: WebhookEventName): Schema =>
  object(`${upperFirst(eventName)}Event`, {
    event_name: { type: 'string', enum: [eventName] },
    organization_id: text('The organization, `org_…`.'),
    timestamp: { type: 'integer', description: 'When the event occurred, in seconds since 1970.' },
    data: object(dataNames[eventName] ?? `${upperFirst(eventName)}Data`, { ...common, ...extraFields[eventName] }, [
      'test',
      'is_test',
      'ip',
    ]),
  })

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

const headers = (eventName: WebhookEventName) => [
  header(
    'X-Service-Signature',
    'The time of the attempt and a signature: HMAC-SHA256 in hex, with the signing secret as the key, of `t`, a dot and the body. During a rotation of the secret there are two `v1`.',
    't=1772446500,v1=0c6a1c1a5cbbb6f0d2c2ad3b0f6f3f4f3a2b9d1f9d6ec1c2a52f1b7b3f0a9e41',
  ),
  header('X-Service-Event', 'The name of the event.', eventName),
  header(
    'webhook-id',
    'The delivery. The same for every attempt; use it to ignore repetitions.',
    'dlv_01kjt5r2g0e0t8vz1q0m3w0001',
  ),
  header('webhook-timestamp', 'The time of the attempt, in seconds since 1970.', '1772446500'),
  header(
    'webhook-signature',
    'A signature by the rules of Standard Webhooks.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const webhookTag = 'Webhook events'

const answers = {
  200: { description: 'Acknowledges the event. It is not sent again.' },
  '4XX': { description: 'Rejects the event. It is not sent again and appears as failed in the delivery log.' },
  default: { description: 'Anything else: the event is sent again by the retry schedule of the webhook.' },
}

/**
 * Any webhook payload. Operations refer to it, because some code generators leave out schemas that only `webhooks` contains.
 * `anyOf` instead of `oneOf`: some clients do not read the discriminator and then accept the schemas of several event types.
 */
export const anyWebhookEvent: Schema = {
  title: 'WebhookEvent',
  description: 'The body of a webhook delivery.',
  anyOf: webhookEventNames.map(payloadOf),
  discriminator: {
    propertyName: 'event_name',
    mapping: Object.fromEntries(
      webhookEventNames.map((eventName) => [eventName, `#/components/schemas/${upperFirst(eventName)}Event`]),
    ),
  },
}

/** Returns the `webhooks` of the document. */
export function webhookEvents(): Record<string, Webhook> {
  return Object.fromEntries(
    webhookEventNames.map((eventName) => [
      eventName,
      {
        post: {
          operationId: `on${upperFirst(eventName)}`,
          tags: [webhookTag],
          security: [],
          summary: eventName,
          description: eventTypes[eventName].description,
          parameters: headers(eventName),
          requestBody: { required: true, content: { 'application/json': { schema: payloadOf(eventName) } } },
          responses: answers,
        },
      },
    ]),
  )
}
