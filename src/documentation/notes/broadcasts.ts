import type { Notes } from '../types.ts'

const notDraft = 'The broadcast is no longer a draft.'
const notSent =
  'The flow or the audience is missing, or the flow is transactional and the broadcast is not a service announcement.'
const changed =
  'The number of recipients has changed since the check, or the broadcast has been started by another request.'

export const broadcastNotes: Notes = {
  listBroadcasts: { details: 'Use `GET …/broadcasts/{id}` for the results of one broadcast.' },
  createBroadcast: {
    details:
      'Only `name` is required; a draft can be completed later. `audience` takes up to 100 groups and 100 segments, minus excluded ones, with at most 200 conditions in all segments together; a contact in several of them receives one email. `schedule.at` is a local time in `schedule.time_zone`, so it stays correct when clocks are changed. A transactional flow needs `service_announcement: true`.',
    errors: {
      conflict: 'The organization has 1,000 drafts.',
      validation_failed:
        'A field is invalid, the flow, a group or a segment does not exist, or the kind of the flow does not fit `service_announcement`.',
    },
  },
  getBroadcast: { details: 'Poll it about once a second to show the progress.' },
  updateBroadcast: { errors: { conflict: notDraft } },
  deleteBroadcast: { errors: { conflict: 'The broadcast was started, or is scheduled. Cancel it first.' } },
  duplicateBroadcast: {
    details:
      'The planned time is copied as well; if it has passed, choose a new one before the start. Groups and segments that were deleted since are left out.',
  },
  checkBroadcast: {
    details:
      'Renders the email for as many recipients as fit into two seconds. Contacts that lack a variable would get the status `failed`; the others are sent.',
    errors: { validation_failed: notSent, flow_not_active: 'The flow is paused or archived.' },
  },
  testBroadcast: { details: 'Test emails are not counted and ignore the subscription of the address.' },
  startBroadcast: {
    details:
      'Without a planned time, the version of the flow is pinned, the recipients are frozen in the background, and sending begins. With `schedule.at`, the broadcast is scheduled. A service announcement needs `expected_unsubscribed` and, with a session, an owner. Of several concurrent requests, one succeeds.',
    errors: { conflict: changed, validation_failed: notSent, flow_not_active: 'The flow is paused or archived.' },
  },
  scheduleBroadcast: {
    details:
      'The recipients are those of the planned time, so their number may differ from the confirmed one. If the service is not running at that time, the broadcast is sent up to `missed_after_seconds` later, and expires after that.',
    errors: {
      conflict: changed,
      validation_failed: 'The planned time is missing, in the past or more than 365 days ahead.',
    },
  },
  pauseBroadcast: {
    details: 'Emails that are being transferred at this moment still arrive.',
    errors: { conflict: 'The broadcast is not being sent.' },
  },
  resumeBroadcast: { errors: { conflict: 'The broadcast is not paused.' } },
  cancelBroadcast: {
    details: 'This cannot be undone. The remaining recipients get the status `cancelled` within seconds.',
    errors: { conflict: 'The broadcast has ended, or was never started.' },
  },
  chooseBroadcastVariant: {
    details:
      'Also ends the wait for the winner that would be chosen automatically. While the sample is still being sent, the others follow when that has finished.',
    errors: {
      conflict: 'The broadcast has no variants or no sample, is not being sent, or a variant has been chosen.',
      validation_failed: 'The broadcast has no such variant.',
    },
  },
  retryBroadcastFailed: {
    details: 'Recipients that bounced or are suppressed are not tried again.',
    errors: { conflict: 'The broadcast has not finished, or no recipient failed.' },
  },
  listBroadcastRecipients: {
    details:
      '`queued` means that the mail server deferred the email and it will be tried again. `suppressed` and `unsubscribed` recipients bounced, complained or unsubscribed after the start.',
  },
  exportBroadcastRecipients: {
    details:
      'Columns: `contact_id`, `email`, `status`, `reason`, `message_id` and `variant`. Cells that a spreadsheet would run as a formula start with an apostrophe.',
  },
  listBroadcastLinks: { details: 'Counts clicks since the start, by the URL as it is in the email.' },
}
