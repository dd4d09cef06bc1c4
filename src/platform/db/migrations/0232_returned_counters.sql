-- Emails that bounced after they were sent, counted at the time of sending: with emailSent, they give what was delivered.
insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
select returned.organization_id, 'emailReturned', flow.id, grain.name, grain.starts_at, count(*), count(*), 0
from (
  select distinct sent.organization_id, sent.message_id, sent.flow_id, sent.occurred_at as at
  from first_occurrences as bounce
  join messages on messages.organization_id = bounce.organization_id and messages.id = bounce.subject_id
  join events as sent on sent.organization_id = messages.organization_id and sent.contact_id = messages.contact_id
    and sent.message_id = messages.id
  where bounce.event_name in ('emailHardBounce', 'emailSoftBounce') and sent.event_name = 'emailSent'
) as returned
cross join lateral (values (flow_id), ('00000000-0000-0000-0000-000000000000'::uuid)) as flow (id)
cross join lateral (values
  ('day', date_bin('1 day', at, '2000-01-01Z')),
  ('hour', date_bin('1 hour', at, '2000-01-01Z')),
  ('quarter', date_bin('15 minutes', at, '2000-01-01Z'))
) as grain (name, starts_at)
where flow.id is not null
group by 1, 2, 3, 4, 5
on conflict do nothing;
