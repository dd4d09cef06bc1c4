-- Sessions, password resets, changes of email addresses, account emails, and the alerts that a user receives.

alter table users
  add column name text check (length(name) between 1 and 200),
  -- Kinds of alerts that are not sent to this user by email.
  add column muted_alerts text[] not null default '{}';

-- Signed-in devices. A session token contains the id of its row and is valid only while the row exists. No foreign key
-- to users: a row without its user has no effect and expires.
create table sessions (
  organization_id uuid        not null,
  user_id         uuid        not null,
  id              uuid        not null,
  user_agent      text        not null,
  ip_address      text        not null,
  created_at      timestamptz not null default now(),
  -- Updated every few minutes at most.
  last_used_at    timestamptz not null default now(),
  expires_at      timestamptz not null,
  primary key (organization_id, user_id, id)
);
create index sessions_expiring on sessions (expires_at);

-- Requests for a password reset, for addresses with and without an account, so that both are answered in the same way
-- and in the same time. A background task deletes each request and sends the email if there is an account.
create table password_reset_requests (
  id           uuid        primary key,
  email_key    text        not null,
  requested_at timestamptz not null default now()
);

-- Links to set a new password. Deleted when one of them is used, and when the password or the address changes.
create table password_resets (
  organization_id uuid        not null,
  -- SHA-256 of 256 random bits, as for API keys.
  token_hash      bytea       not null,
  user_id         uuid        not null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  primary key (organization_id, token_hash)
);
create index password_resets_by_user on password_resets (organization_id, user_id);
create index password_resets_expiring on password_resets (expires_at);

-- The new address of a user, until it is confirmed by the link that was sent to it.
create table email_changes (
  organization_id uuid        not null,
  user_id         uuid        not null,
  email           text        not null,
  email_key       text        not null,
  token_hash      bytea       not null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  primary key (organization_id, user_id),
  unique (organization_id, token_hash)
);
create index email_changes_expiring on email_changes (expires_at);

-- Pending account emails. The content contains links with tokens, so it is encrypted with APP_SECRET and deleted when
-- the email was sent.
create table account_mails (
  organization_id uuid        not null,
  id              uuid        not null,
  recipient       text        not null,
  content         bytea       not null,
  created_at      timestamptz not null default now(),
  -- Not sent after this time, for example because its link has expired.
  expires_at      timestamptz not null,
  -- Claimed by moving this into the future: if the process dies, the email is retried at that time.
  next_try_at     timestamptz not null default now(),
  primary key (organization_id, id)
);
create index account_mails_due on account_mails (next_try_at);

alter table invitations
  add column sent_at timestamptz,
  add column sent_count integer not null default 0;

-- Account emails contain links with which one can sign in, so in the built-in inbox only owners can read them.
alter table inbox add column owners_only boolean not null default false;

alter table notices add column path text;
alter table notices drop constraint notices_kind_check;
alter table notices add constraint notices_kind_check check (kind in (
  'webhook_paused', 'webhook_failing', 'relay_down', 'bounce_rate', 'complaint_rate', 'import_finished'));

-- The user who started the import. Null for API keys and for imports from before this migration.
alter table imports add column created_by uuid;
