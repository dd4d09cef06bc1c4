-- Exports of the event feed to S3-compatible storage.
create table event_exports (
  organization_id   uuid        not null references organizations on delete cascade,
  id                uuid        not null,
  name              text        not null,
  endpoint          text        not null,
  region            text        not null,
  bucket            text        not null,
  prefix            text        not null,
  access_key_id     text        not null,
  -- Encrypted with AES-256-GCM and a key derived from APP_SECRET. Null after the organization was imported.
  secret            bytea,
  status            text        not null default 'active' check (status in ('active', 'paused')),
  -- The reason, if it was paused automatically.
  paused_reason     text,
  -- The cursor of the feed after the last file. Null: begins with the oldest event.
  cursor            text,
  -- The end and the name of the next file, stored before it is uploaded: if that is repeated, it is the same file.
  pending_until     text,
  pending_file      text,
  last_file         text,
  last_exported_at  timestamptz,
  exported_events   int8        not null default 0,
  failures          int4        not null default 0,
  failing_since     timestamptz,
  last_error        text,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (organization_id, id)
);
