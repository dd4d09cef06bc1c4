import type { Notes } from '../types.ts'

export const eventNotes: Notes = {
  getEmailEventMetric: {
    details: `One row for each day from \`start_date\` to \`end_date\`, both inclusive, with zeros for days without events. At most 731 days. Days begin at midnight in \`timezone\` (default UTC).

\`total\` counts every event. \`machine\` is the automated part of it, made by scanners and privacy proxies. \`unique\` counts messages at their first event made by a person, so that it adds up over days.`,
    errors: {
      not_found: 'The flow does not exist.',
      validation_failed:
        'A date is invalid, the range is reversed or too long, or the event name or time zone is unknown.',
    },
  },
  listEventTypes: { details: 'The same catalog as under Webhook events.' },
  listEvents: {
    details:
      'Events are kept as long as `EVENT_RETENTION_MONTHS` says (by default without limit); counts are always kept.',
  },
  getEvent: { details: 'Also returns changes of contacts, which are not listed.' },
  getOverview: {
    details:
      '`previous` has the totals of the preceding period of the same length. `timezone` defaults to that of the organization. At most 731 days.',
    errors: {
      not_found: 'The flow does not exist.',
      validation_failed: 'A date is invalid, or the range is reversed or too long.',
    },
  },
  getChecklist: { details: 'Which steps of the introduction are done. Used by the start page of the web app.' },

  listWebhooks: { details: 'All webhooks, in one response. Signing secrets are never included.' },
  createWebhook: {
    details: `Send either \`event_types\` or \`all_events: true\`: all email events and unsubscribes, including types that are added later. Contact changes and broadcast events are selected by name. An organization can have 50 webhooks.

The URL must be https and must not contain credentials or name a private, loopback or link-local address. This is checked again at each delivery, for the address that the name resolves to.`,
    errors: {
      conflict: 'The organization already has 50 webhooks.',
      validation_failed: 'The URL, the name or the list of events is invalid.',
    },
  },
  listRetrySchedules: {
    details:
      'A delivery is retried after these delays unless it is acknowledged with 200 or rejected with a 4xx status.',
  },
  getWebhook: {
    details:
      '`failing_since` is the time of the first of the latest failures in a row. A webhook that fails for three days is paused, and the owners are notified.',
  },
  updateWebhook: {
    details: 'Omitted fields keep their value. A paused webhook collects deliveries and sends them when it is resumed.',
    errors: { precondition_failed: 'The record was edited since the version in `If-Match`. Nothing was changed.' },
  },
  deleteWebhook: { details: 'Pending deliveries are dropped, and the delivery log is deleted. This cannot be undone.' },
  rotateWebhookSecret: {
    details:
      'During the overlap, `X-Service-Signature` has one `v1` for each secret, so that a receiver can switch without losing deliveries. The overlap is at most 720 hours.',
  },
  testWebhook: {
    details:
      'The sample event has `"test": true` in its `data`. It is sent once, without retries, and appears in the delivery log. The response arrives when the endpoint has answered, within 10 seconds.',
    errors: {
      conflict: 'The signing secret cannot be decrypted. Rotate it.',
      rate_limited: 'Too many requests, or too many tests of the organization are in progress.',
    },
  },

  listWebhookDeliveries: { details: 'Deliveries are kept for 30 days (`WEBHOOK_LOG_DAYS`).' },
  getDelivery: {
    details: '`payload` is the exact body that was signed. `response_body` has at most 16 KiB.',
  },
  replayDelivery: {
    details: 'Sends the same body again, with the same `webhook-id`. It starts with a new series of attempts.',
    errors: { conflict: 'The delivery is already pending, or its webhook was deleted.' },
  },
  replayWebhookDeliveries: {
    details: '`since` is a date or a time in ISO 8601. Deliveries that fail while this runs are not included.',
  },
}
