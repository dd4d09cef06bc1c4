-- Emails that were rejected at once count among those that left, and emails that were returned or rejected are also counted
-- by version and domain (src/events/returned.ts).
insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
select rejected.organization_id, 'emailRejected', flow.id, grain.name, grain.starts_at, count(*), count(*), 0
from (
  select bounce.organization_id, messages.flow_id, min(bounce.occurred_at) as at
  from first_occurrences as bounce
  join messages on messages.organization_id = bounce.organization_id and messages.id = bounce.subject_id
  where bounce.event_name in ('emailHardBounce', 'emailSoftBounce') and messages.sent_at is null
    and not exists (
      select from events as sent
      where sent.organization_id = messages.organization_id and sent.contact_id = messages.contact_id
        and sent.message_id = messages.id and sent.event_name = 'emailSent')
  group by bounce.organization_id, messages.id, messages.flow_id
) as rejected
cross join lateral (values (flow_id), ('00000000-0000-0000-0000-000000000000'::uuid)) as flow (id)
cross join lateral (values
  ('day', date_bin('1 day', at, '2000-01-01Z')),
  ('hour', date_bin('1 hour', at, '2000-01-01Z')),
  ('quarter', date_bin('15 minutes', at, '2000-01-01Z'))
) as grain (name, starts_at)
group by 1, 2, 3, 4, 5
on conflict do nothing;

insert into flow_counters (organization_id, flow_id, grain, kind, starts_at, value, event_name, total, uniques, machine)
select bounced.organization_id, bounced.flow_id, grain.name, dimension.kind, grain.starts_at,
  case when dimension.value = any (stored.counted) then dimension.value else '' end, bounced.event_name, count(*), count(*), 0
from (
  select bounce.organization_id, messages.flow_id, messages.flow_version_id, messages.email,
    case when min(sent.occurred_at) is null then 'emailRejected' else 'emailReturned' end as event_name,
    coalesce(min(sent.occurred_at), min(bounce.occurred_at)) as at
  from first_occurrences as bounce
  join messages on messages.organization_id = bounce.organization_id and messages.id = bounce.subject_id
  left join events as sent on sent.organization_id = messages.organization_id and sent.contact_id = messages.contact_id
    and sent.message_id = messages.id and sent.event_name = 'emailSent'
  where bounce.event_name in ('emailHardBounce', 'emailSoftBounce')
    and (sent.id is not null or messages.sent_at is null)
  group by bounce.organization_id, messages.id, messages.flow_id, messages.flow_version_id, messages.email
) as bounced
cross join lateral (values
  ('version' collate "C", flow_version_id::text collate "C"), ('domain', nullif(lower(substring(email from '[^@]*$')), ''))
) as dimension (kind, value)
join flow_counter_values as stored on stored.organization_id = bounced.organization_id
  and stored.flow_id = bounced.flow_id and stored.kind = dimension.kind and stored.day = (at at time zone 'UTC')::date
cross join lateral (values
  ('day', date_bin('1 day', at, '2000-01-01Z')), ('quarter', date_bin('15 minutes', at, '2000-01-01Z'))
) as grain (name, starts_at)
where dimension.value is not null
group by 1, 2, 3, 4, 5, 6, 7
on conflict do nothing;
