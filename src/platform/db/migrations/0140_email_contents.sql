-- The content of emails that do not come from a flow alone, shared by the messages of an email: see
-- src/email-contents/content.ts.
create table email_contents (
  organization_id uuid not null,
  id              uuid not null,
  -- Addresses, headers, tracking, attachments.
  details         jsonb not null,
  html            text,
  text            text,
  body_bytes      integer not null,
  -- When the files are deleted. Null if there are none, or none any more.
  files_until     timestamptz,
  created_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create index email_contents_files_until on email_contents (files_until) where files_until is not null;

-- Attachments and other large parts of emails. A file that is used by several emails is stored once.
create table stored_files (
  organization_id uuid not null,
  id              uuid not null,
  -- SHA-256 of the content. Null while it is being uploaded.
  hash            bytea,
  bytes           bigint not null default 0,
  -- How many contents of emails use it.
  uses            integer not null default 0,
  created_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create index stored_files_hash on stored_files (organization_id, hash) where hash is not null;
create index stored_files_uploads on stored_files (created_at) where hash is null;

create table stored_file_chunks (
  organization_id uuid not null,
  file_id         uuid not null,
  position        integer not null,
  bytes           bytea not null,
  primary key (organization_id, file_id, position)
);
-- Attachments are mostly compressed already.
alter table stored_file_chunks alter column bytes set storage external;

alter table messages
  add column content_id uuid,
  -- Given by the sender, and part of the events of the message.
  add column tags jsonb;

-- The flow of emails without one. It is not shown as a flow and cannot be changed.
alter table flows add column is_built_in boolean not null default false;

-- Of the whole email, if only its start is stored.
alter table inbox add column size_bytes bigint;
