-- Organizations, their users and API keys.
--
-- organizations, users and api_keys are the only tables that are looked up without knowing the organization (by id,
-- by address at login, by the key's hash). Every other table is a tenant table: its keys start with organization_id.

create table organizations (
  id             uuid        primary key,
  name           text        not null check (length(name) between 1 and 200),
  timezone       text        not null default 'UTC',
  -- Whether IP addresses of opens and clicks are stored.
  keep_addresses boolean     not null default false,
  created_at     timestamptz not null default now()
);

create table users (
  id              uuid        primary key,
  organization_id uuid        not null references organizations on delete cascade,
  email           text        not null,
  -- The address in lower case: one account per address.
  email_key       text        not null unique,
  password_hash   text        not null,
  role            text        not null check (role in ('owner', 'member')),
  created_at      timestamptz not null default now(),
  last_login_at   timestamptz
);
create index users_by_organization on users (organization_id, id);

create table api_keys (
  id              uuid        primary key,
  organization_id uuid        not null references organizations on delete cascade,
  name            text        not null,
  -- SHA-256 of a key with 256 random bits. It cannot be guessed, so a slow hash is not needed.
  key_hash        bytea       not null unique,
  -- The first characters of the key, shown in lists.
  hint            text        not null,
  scopes          text[]      not null,
  created_at      timestamptz not null default now(),
  last_used_at    timestamptz,
  revoked_at      timestamptz
);
create index api_keys_by_organization on api_keys (organization_id, id);

-- A link with which one person can join. Deleted when it is used.
create table invitations (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  -- Null if the link is not limited to an address.
  email           text,
  role            text        not null check (role in ('owner', 'member')),
  -- SHA-256 of 256 random bits, as for API keys.
  token_hash      bytea       not null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  primary key (organization_id, id),
  unique (organization_id, token_hash)
);
