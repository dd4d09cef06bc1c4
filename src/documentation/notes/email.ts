import type { Notes } from '../types.ts'

const provider = (name: string, setting: string, proof: string) => ({
  details: `Called by ${name}, not by you. Enabled by the setting \`${setting}\`. ${proof} Reports about email that was not sent by this installation are ignored. \`received\` counts the bounces and complaints in the request, \`recorded\` those that led to a new event.`,
  errors: {
    unauthorized: `The request does not come from ${name}.`,
    not_found: `${name} is not configured.`,
    payload_too_large: 'The request has more than 10,000 events or more than 1 MiB.',
    invalid_json: 'The body is not valid JSON.',
  },
})

export const emailNotes: Notes = {
  sendEmailThroughFlow: {
    details: `Responds with 200 after the message is stored durably; the email itself is sent in the background. A contact that does not exist is created, in no group: it receives transactional flows, while marketing flows need a subscribed contact.

If the address is suppressed, or has unsubscribed and the flow is marketing, nothing is sent: \`status\` is \`suppressed\`, \`reason\` says why, and a message record exists.

\`context\` provides the variables of the template: an object of at most 64 KiB, nested at most 50 levels. Keys that the template does not use are reported in \`warnings\`.

With \`send_at\`, the email is sent at that time: \`status\` is \`scheduled\`. It has the content of the flow and the contact's values as they are now; whether the address is suppressed or unsubscribed is checked again when it is sent. It can be cancelled until then.

Send an \`Idempotency-Key\` to make retries safe: the first response is returned again for 24 hours, with \`Idempotent-Replayed: true\`.`,
    errors: {
      invalid_idempotency_key: 'The key does not consist of 1 to 255 visible ASCII characters.',
      not_found: 'The flow does not exist.',
      flow_not_active: 'The flow is paused or archived.',
      idempotency_key_reused: 'The key was used with another body.',
      idempotency_in_progress: 'A request with the same key is in progress. Repeat it after a moment.',
      missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
      sender_not_verified: 'The sender of the flow is not in a verified domain.',
      rate_limited: 'The key exceeds its rate limit, or a new organization exceeds its daily number of messages.',
    },
  },

  cancelEmail: {
    details:
      'After a 200, the email is not sent. A scheduled or deferred email can be cancelled until an attempt starts. Any other queued email can be cancelled while no worker has taken over its queue, for example while sending is paused or the mail server is unreachable. Cancelling it again returns 200.',
    errors: { conflict: 'The email was sent, is being sent, or was not queued.' },
  },

  listFlows: { details: '`stats_30d` counts the last 30 days.' },
  createFlow: {
    details:
      'The flow is active unless `status` says otherwise. A transactional flow is sent to everyone who is not suppressed; a marketing flow is sent to subscribed contacts only and needs an unsubscribe link, which is added if the template has none. `html` and `text` have at most 600,000 characters. `text` is derived from the HTML if it is omitted.',
    errors: {
      validation_failed:
        'The template has an error; `error.fields` has its line and column. Or another field is invalid.',
      sender_not_verified: '`from_email` is not in a verified domain.',
    },
  },
  getFlow: { details: '`variables` lists what the template needs from `context`.' },
  updateFlow: {
    details: 'Emails that were accepted before keep their version.',
    errors: {
      precondition_failed: 'The record was edited since the version in `If-Match`. Nothing was changed.',
      conflict: 'There is a newer version than `base_version`, or the flow has 10,000 versions.',
      validation_failed:
        'The template has an error; `error.fields` has its line and column. Or another field is invalid.',
      sender_not_verified: '`from_email` is not in a verified domain.',
    },
  },
  deleteFlow: { details: 'Messages that were sent through the flow and their counts are kept.' },
  getFlowResults: {
    details:
      'Counts come from counters, so the response does not depend on how many events there are. `unique` counts messages at their first occurrence made by a person. A link is counted without the parts of its URL that are different for every recipient. On each day, the first 50 links, 50 domains and 20 versions of a flow are counted individually, and all others together.',
    errors: { validation_failed: 'A date or the time zone is invalid, or the period is longer than 731 days.' },
  },
  listLinkClicks: {
    details:
      'Needs the exact `link` of the results. Clicks on days on which the link was counted together with others are not listed.',
    errors: { validation_failed: '`link` is missing, or a date or the time zone is invalid.' },
  },
  listFlowVersions: { details: '`created_by` is the email address of the author.' },
  getFlowVersion: {
    details: 'Returns the content of one version, for example to compare or restore it.',
    errors: { validation_failed: 'The version is not a number.' },
  },
  previewTemplate: {
    details:
      'Renders exactly what would be sent. Errors in the template are part of a successful response, in `problems`; `missing` lists variables without a value. Nothing is stored or sent.',
  },
  previewFlow: {
    details: 'Otherwise like the preview of an unsaved template. Nothing is stored or sent.',
  },
  getFlowDraft: { details: 'Sends use the published version. The `ETag` of the response works with `If-Match`.' },
  saveFlowDraft: {
    details:
      'If someone may have changed the draft since you read it, send its `revision` as `base_revision` or its `ETag` as `If-Match`.',
    errors: {
      conflict: 'The draft was changed since `base_revision`, or a version was published since `base_version`.',
      sender_not_verified: '`from_email` is not in a verified domain.',
      precondition_failed: 'The draft was changed since you read it.',
    },
  },
  discardFlowDraft: {
    details: 'The published version stays. A flow that was never published has nothing else, so delete it instead.',
    errors: {
      conflict: 'The flow was never published.',
      precondition_failed: 'The draft was changed since you read it.',
    },
  },
  publishFlow: {
    details:
      'Publishes the draft exactly as you read it if you send its `revision` as `base_revision`. New sends use the version at once; queued emails keep theirs.',
    errors: {
      conflict:
        'There is no draft, it was changed since `base_revision`, or a version was published since the draft was started and `base_version` does not name it.',
      validation_failed: 'The template has an error; `error.fields` has its line and column.',
      sender_not_verified: '`from_email` is not in a verified domain.',
      precondition_failed: 'The draft was changed since you read it.',
    },
  },
  duplicateFlow: { details: 'The copy has the status `draft` and starts with version 0.' },
  sendFlow: {
    details: 'For people who are signed in. Apps use `sendEmailThroughFlow` of the public API.',
    errors: {
      flow_not_active: 'The flow is paused or archived.',
      missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
      sender_not_verified: 'The sender of the flow is not in a verified domain.',
      rate_limited: 'The user exceeds the rate limit, or a new organization exceeds its daily number of messages.',
    },
  },
  sendTestEmail: {
    details:
      'A test email counts in no metrics, triggers no webhooks and creates no contact; its message is marked `is_test` and has no events, and its unsubscribe link unsubscribes no one. If `to` is invalid for one address, or a variable is missing, nothing is sent. Suppressed addresses receive no test email either.',
    errors: {
      conflict: '`draft` is true, but the flow has no unpublished changes.',
      missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
      sender_not_verified: 'The sender of the flow is not in a verified domain.',
      rate_limited: 'The user exceeds the rate limit, or a new organization exceeds its daily number of messages.',
    },
  },

  listMessages: {
    details:
      '`status` is `queued`, `scheduled`, `sent`, `bounced`, `suppressed`, `failed` or `cancelled`. `query` searches in address and subject.',
  },
  getMessage: { details: '`html`, `text` and `context` are null after the contact was erased.' },
  sendMessageAgain: {
    details:
      'For example after a bounce of a full mailbox. Suppressions and subscriptions are checked as for any other email.',
    errors: {
      conflict: 'The message is a test email, or its contact was erased.',
      flow_not_active: 'The flow is paused or archived.',
      missing_variables: 'The current version of the flow needs variables that the message was not sent with.',
      sender_not_verified: 'The sender of the flow is not in a verified domain.',
    },
  },

  cancelMessage: {
    details:
      'After a 200, the email is not sent. A scheduled or deferred email can be cancelled until an attempt starts. Any other queued email can be cancelled while no worker has taken over its queue, for example while sending is paused or the mail server is unreachable. Cancelling it again returns 200.',
    errors: { conflict: 'The email was sent, is being sent, or was not queued.' },
  },

  listInboxEmails: { details: 'Empty if a mail server is configured.' },
  getInboxEmail: { details: 'At most 256 KiB of the email are parsed and returned.' },
  deleteInboxEmails: { details: 'The messages are kept. This cannot be undone.' },

  getSendingStatus: { details: 'Details of the mail server are only returned to its operators.' },
  checkSending: {
    details: 'Connects to the mail server and looks up the DNS records. Takes up to a few seconds. Sends no email.',
  },

  receiveSesEvents: provider(
    'Amazon SES',
    'PROVIDER_SES_TOPICS',
    'The signature of Amazon SNS and the topic are verified.',
  ),
  receiveSendgridEvents: provider(
    'SendGrid',
    'PROVIDER_SENDGRID_KEY',
    'The signature of the event webhook is verified.',
  ),
  receiveMailgunEvents: provider('Mailgun', 'PROVIDER_MAILGUN_KEY', 'The signature is verified and accepted once.'),
  receivePostmarkEvents: provider(
    'Postmark',
    'PROVIDER_POSTMARK_TOKEN',
    'The password of the webhook URL is verified.',
  ),
}
