-- The site that receives the email of a domain, from its MX records. Asked again after a day.
create table receiving_domains (
  name       text        collate "C" primary key,
  site       text        collate "C" not null,
  checked_at timestamptz not null default now()
);
create index receiving_domains_by_check on receiving_domains (checked_at);

-- What an organization has set for a site, and whether the site is slowed down. Those of the operator are the defaults.
create table receiving_sites (
  organization_id     uuid        not null references organizations on delete cascade,
  site                text        collate "C" not null,
  -- If true, these replace the limits of the shipped table.
  has_limits          boolean     not null default false,
  messages_per_second float8,
  messages_per_day    int,
  -- The last time that the site deferred email because of its rate or reputation, and the consequence.
  deferred_at         timestamptz,
  slowed_until        timestamptz,
  slowed_reason       text,
  primary key (organization_id, site)
);
