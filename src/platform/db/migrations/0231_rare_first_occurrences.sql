-- no transaction
-- Few of a million recipients complain or unsubscribe, and few emails bounce. Opens and clicks are not in the index, so that
-- recording them costs nothing more. src/segments/broadcast-recipients.ts has the same names.
create index concurrently first_occurrences_rare on first_occurrences (organization_id, subject_id, event_name)
  where event_name in ('contactUnsubscribe', 'emailComplaint', 'emailHardBounce', 'emailSoftBounce');
