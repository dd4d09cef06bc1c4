-- Webhook endpoints, deliveries and attempts.

create table webhooks (
  organization_id       uuid        not null references organizations on delete cascade,
  id                    uuid        not null,
  name                  text        not null,
  url                   text        not null,
  all_events            boolean     not null,
  event_types           text[]      not null,
  status                text        not null default 'active' check (status in ('active', 'paused')),
  -- The reason, if it was paused automatically.
  paused_reason         text,
  -- Encrypted with AES-256-GCM and a key derived from APP_SECRET.
  secret                bytea       not null,
  previous_secret       bytea,
  previous_secret_until timestamptz,
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now(),
  last_delivery_at      timestamptz,
  failing_since         timestamptz,
  primary key (organization_id, id)
) with (fillfactor = 50);

-- One event for one endpoint. The body is serialized at the first attempt and stored, so that every attempt sends the
-- same bytes. It is null until then.
create table deliveries (
  organization_id uuid        not null,
  id              uuid        not null,
  webhook_id      uuid        not null,
  event_id        uuid        not null,
  event_name      text        collate "C" not null,
  status          text        not null check (status in ('pending', 'delivered', 'failed')),
  attempt_count   integer     not null default 0,
  next_attempt_at timestamptz,
  reason          text,
  body            text,
  created_at      timestamptz not null default now(),
  delivered_at    timestamptz,
  primary key (organization_id, id)
) with (fillfactor = 70);
create index deliveries_by_webhook on deliveries (organization_id, webhook_id, id);
create index deliveries_failed on deliveries (organization_id, webhook_id, id) where status = 'failed';

create table delivery_attempts (
  organization_id uuid        not null,
  delivery_id     uuid        not null,
  number          integer     not null,
  at              timestamptz not null,
  duration_ms     integer     not null,
  status_code     integer,
  outcome         text        not null,
  reason          text        not null,
  -- The X-Service-Signature that was sent; the other headers follow from the delivery.
  signature       text        not null,
  response_body   text,
  primary key (organization_id, delivery_id, number)
);

-- The id of the delivery of one event to one webhook: the time of the event and a hash of both ids. An event that is
-- recorded twice yields the same delivery, and ids sort by time.
create function delivery_id(event_id uuid, webhook_id uuid) returns uuid
  language sql immutable parallel safe
  return overlay(overlay(md5(event_id::text || webhook_id::text)
      placing replace(left(event_id::text, 13), '-', '') || '7' from 1)
      placing '8' from 17)::uuid;
