-- The retry schedule, when the owners were last notified about failures, and the time of the last attempt.
alter table webhooks
  add column retry_schedule text not null default 'standard' check (retry_schedule in ('standard', 'extended')),
  add column last_attempt_at timestamptz,
  add column failing_notified_at timestamptz;

-- Deliveries of test events, which are not counted in statistics.
alter table deliveries add column is_test boolean not null default false;
update deliveries set is_test = true where id <> delivery_id(event_id, webhook_id);

-- last_delivery_at was the last attempt of any outcome. From now on it is the last acknowledged delivery.
update webhooks set last_attempt_at = last_delivery_at;
update webhooks
set last_delivery_at = (
  select max(recent.delivered_at)
  from (
    select delivered_at from deliveries
    where deliveries.organization_id = webhooks.organization_id
      and deliveries.webhook_id between webhooks.id and webhooks.id and not is_test
    order by webhook_id desc, deliveries.id desc
    limit 2000
  ) recent
)
where failing_since is not null;

alter table notices drop constraint notices_kind_check;
alter table notices add constraint notices_kind_check check (kind in ('webhook_paused', 'webhook_failing'));
