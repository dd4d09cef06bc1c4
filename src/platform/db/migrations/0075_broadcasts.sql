-- A broadcast sends one version of a flow to many contacts. Starting it freezes its recipients: the key of the ledger
-- below makes sure that nobody is in it twice, whatever groups they are in.

create table broadcasts (
  organization_id      uuid        not null references organizations on delete cascade,
  id                   uuid        not null,
  name                 text        not null check (length(name) between 1 and 200),
  status               text        not null default 'draft' check (status in (
    'draft', 'scheduled', 'preparing', 'sending', 'paused', 'sent', 'cancelled', 'expired')),
  flow_id              uuid,
  -- Pinned at the start: a change of the flow does not change a broadcast that is being sent.
  flow_version_id      uuid,
  audience             jsonb       not null default '{}',
  context              jsonb       not null default '{}',
  schedule             jsonb       not null default '{}',
  messages_per_hour    integer,
  -- A broadcast that cannot start within this time after its planned time expires.
  missed_after_seconds integer     not null default 3600,
  -- The planned start.
  starts_at            timestamptz,
  -- Why it is paused or expired.
  reason               text,
  detail               text,
  -- Set when the recipients are frozen: how many there are, and how many contacts of the audience are not among them because
  -- they are unsubscribed or suppressed.
  recipients           bigint,
  excluded             bigint,
  -- Incremented when the failed recipients are tried again.
  round                integer     not null default 0,
  -- With a rate: the earliest time of the next chunk.
  next_chunk_at        timestamptz,
  -- Emails before this time do not count for the brake. Set by resuming.
  watched_since        timestamptz,
  created_by           uuid,
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  started_at           timestamptz,
  finished_at          timestamptz,
  primary key (organization_id, id)
);

-- The ledger: one row per recipient. Each row is updated about once, in the transaction that records the outcome. Half of
-- each page stays free, so that this update does not touch the index.
create table broadcast_recipients (
  organization_id uuid not null,
  broadcast_id    uuid not null,
  contact_id      uuid not null,
  status          text collate "C" not null default 'pending' check (status in (
    'pending', 'queued', 'sent', 'bounced', 'suppressed', 'unsubscribed', 'failed', 'cancelled')),
  reason          text,
  message_id      uuid,
  -- The time zone of the recipient, if the broadcast is sent at the local time of each recipient.
  zone            text collate "C",
  primary key (organization_id, broadcast_id, contact_id)
) with (fillfactor = 50);
create index broadcast_recipients_by_zone on broadcast_recipients (organization_id, broadcast_id, zone, contact_id)
  where zone is not null;

-- How many recipients have which status. Kept by the transactions that change the ledger.
create table broadcast_counts (
  organization_id uuid   not null,
  broadcast_id    uuid   not null,
  status          text   collate "C" not null,
  recipients      bigint not null,
  primary key (organization_id, broadcast_id, status)
) with (fillfactor = 50);

-- The ledger is sent in parts, so that several processes can share it: ranges of contacts, or one part per time zone.
create table broadcast_parts (
  organization_id uuid    not null,
  broadcast_id    uuid    not null,
  part            integer not null,
  zone            text,
  -- The range: after the first, up to and including the second.
  after_contact   uuid    not null,
  to_contact      uuid    not null,
  -- Chunks that were started and are not completely recorded: [{"to": contact, "at": time}]. The ids of messages are
  -- derived from the time of their chunk, so that an email that is sent again after a crash has the same Message-ID.
  chunks          jsonb   not null default '[]',
  -- Incremented by every change, so that a worker that lost its lease cannot change anything.
  revision        integer not null default 0,
  done_at         timestamptz,
  primary key (organization_id, broadcast_id, part)
) with (fillfactor = 50);

-- The broadcast that a message belongs to.
alter table messages add column broadcast_id uuid;

-- Owners may always start broadcasts.
alter table users add column may_broadcast boolean not null default false;

-- Only the service writes notices, and it knows their kinds.
alter table notices drop constraint notices_kind_check;
