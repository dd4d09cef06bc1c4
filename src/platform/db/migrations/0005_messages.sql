-- A message is one email to one contact, sent with one version of a flow.
-- No foreign keys, because accepting is a hot path and each message would lock the row of its flow.

create table messages (
  organization_id uuid        not null,
  id              uuid        not null,
  flow_id         uuid        not null,
  flow_version_id uuid        not null,
  contact_id      uuid        not null,
  -- The address at the time of accepting. Erasing a contact empties it, with subject and context.
  email           text        not null,
  subject         text        not null,
  context         jsonb,
  status          text        not null check (status in ('queued', 'sent', 'bounced', 'suppressed', 'failed')),
  reason          text,
  -- The last reply of the relay and its queue id, which identifies bounces without other ids.
  relay_reply     text,
  queue_id        text,
  is_test         boolean     not null default false,
  queued_at       timestamptz not null default now(),
  sent_at         timestamptz,
  primary key (organization_id, id)
) with (fillfactor = 85);
create index messages_by_contact on messages (organization_id, contact_id, id);
create index messages_by_flow on messages (organization_id, flow_id, id);

create table idempotency_keys (
  organization_id uuid        not null,
  key             text        collate "C" not null,
  request_hash    bytea       not null,
  message_id      uuid        not null,
  -- The response, to be returned again for the same key.
  answer          jsonb       not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, key)
);
create index idempotency_keys_by_time on idempotency_keys (created_at);

-- The built-in inbox, used while no relay is configured.
create table inbox (
  organization_id uuid        not null,
  message_id      uuid        not null,
  sender          text        not null,
  recipient       text        not null,
  subject         text        not null,
  raw             bytea       not null,
  received_at     timestamptz not null default now(),
  primary key (organization_id, message_id)
);
