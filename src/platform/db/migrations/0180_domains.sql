-- Domains from which an organization sends. The private keys are encrypted like webhook secrets.
create table domains (
  organization_id    uuid        not null references organizations on delete cascade,
  id                 uuid        not null,
  name               text        collate "C" not null,
  status             text        not null default 'pending' check (status in ('pending', 'verified', 'warning', 'unverified')),
  -- The value that proves ownership when it is published.
  ownership_token    text        not null,
  selector           text        not null,
  dkim_key           bytea       not null,
  dkim_public_key    text        not null,
  -- The key of a rotation, until its record is found.
  next_selector      text,
  next_dkim_key      bytea,
  next_dkim_public_key text,
  -- The last check by purpose: {"dkim": {"status": "ok", "found": "…", "detail": "…"}, …}
  checks             jsonb       not null default '{}',
  checked_at         timestamptz,
  verified_at        timestamptz,
  -- Since when a required record is missing, if it was verified before.
  failing_since      timestamptz,
  next_check_at      timestamptz not null default now(),
  created_at         timestamptz not null default now(),
  primary key (organization_id, id),
  unique (organization_id, name)
);
create index domains_by_next_check on domains (next_check_at);

-- Each verified domain belongs to one organization. Looked up by name.
create table verified_domains (
  name            text collate "C" primary key,
  organization_id uuid not null references organizations on delete cascade,
  domain_id       uuid not null
);
