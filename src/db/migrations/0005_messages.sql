-- A message is a promise to send one email to one contact through one version of a flow.
-- Why no foreign keys: accepting is a hot path, and each would lock the same flow's row again and again.

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
  -- The relay's last words and its queue id, for people and for bounces that name nothing else.
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
  -- What was answered beside the message itself, to be answered again.
  answer          jsonb       not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, key)
);
create index idempotency_keys_by_time on idempotency_keys (created_at);

-- Where mail lands while no relay is set.
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
