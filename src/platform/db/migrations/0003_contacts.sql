-- Contacts and groups.
--
-- No foreign keys between tables that are written thousands of rows at a time: the check per row costs more than the
-- insert itself. The statements that delete rows keep the tables consistent.

create table contacts (
  organization_id uuid        not null,
  id              uuid        not null,
  -- As entered. email_key is the same in lower case and is unique.
  email           text        not null,
  email_key       text        collate "C" not null,
  first_name      text,
  last_name       text,
  attributes      jsonb       not null default '{}',
  -- not_subscribed: only ever created by a send. Suppression is kept by address in suppressions.
  subscription    text        not null check (subscription in ('subscribed', 'not_subscribed', 'unsubscribed')),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create unique index contacts_by_email on contacts (organization_id, email_key);
-- A partial index: cheap for the many contacts that are not in it.
create index contacts_not_subscribed on contacts (organization_id, subscription, id) where subscription <> 'subscribed';

create table groups (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  name            text        not null check (length(name) between 1 and 200),
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create unique index groups_by_name on groups (organization_id, lower(name));

create table group_members (
  organization_id uuid        not null,
  group_id        uuid        not null,
  contact_id      uuid        not null,
  added_at        timestamptz not null default now(),
  primary key (organization_id, group_id, contact_id)
);
create index group_members_by_contact on group_members (organization_id, contact_id);

-- Suppressed addresses and the reasons. Keyed by address, so that an entry outlives the contact. 'unsubscribe' stops
-- marketing email only.
create table suppressions (
  organization_id uuid        not null,
  email_key       text        collate "C" not null,
  reason          text        not null check (reason in ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  email           text        not null,
  detail          text,
  -- The message that bounced, was complained about or led to unsubscribing.
  message_id      uuid,
  -- Milliseconds, so that it round-trips through a JavaScript Date in a page cursor.
  created_at      timestamptz(3) not null default now(),
  primary key (organization_id, email_key, reason)
);
create index suppressions_by_time on suppressions (organization_id, created_at, email_key, reason);

create table imports (
  organization_id uuid        not null,
  id              uuid        not null,
  group_id        uuid,
  file_name       text        not null,
  -- Which column becomes which field; null until known.
  mapping         jsonb,
  status          text        not null check (status in ('uploading', 'queued', 'running', 'done', 'failed')),
  reason          text,
  bytes_total     bigint      not null default 0,
  -- The state a worker needs to continue after a crash, written together with the imported rows.
  progress        jsonb       not null default '{}',
  created_at      timestamptz not null default now(),
  finished_at     timestamptz,
  primary key (organization_id, id)
);

-- The uploaded file in pieces, so that any worker on any machine can read it in bounded memory.
create table import_chunks (
  organization_id uuid    not null,
  import_id       uuid    not null,
  -- The position of the first byte in the file.
  starts_at       bigint  not null,
  bytes           bytea   not null,
  primary key (organization_id, import_id, starts_at)
);
-- Read once and deleted: compression would cost more than it saves.
alter table import_chunks alter column bytes set storage external;

-- Rejected lines, for the report.
create table import_problems (
  organization_id uuid    not null,
  import_id       uuid    not null,
  line            integer not null,
  email           text,
  problem         text    not null,
  primary key (organization_id, import_id, line)
);
