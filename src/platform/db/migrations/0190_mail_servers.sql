-- Mail servers of an organization. Without any, its email is sent through SMTP_URL.
create table mail_servers (
  organization_id     uuid        not null references organizations on delete cascade,
  id                  uuid        not null,
  name                text        not null,
  -- The URL with its credentials, and the OAuth 2 client with its refresh token. Encrypted like webhook secrets.
  url                 bytea       not null,
  oauth               bytea,
  -- With which the provider signs its reports of bounces. Encrypted as well.
  webhook_secret      bytea,
  host                text        collate "C" not null,
  port                int         not null,
  security            text        not null default 'opportunistic' check (security in ('tls', 'starttls', 'opportunistic', 'none')),
  auth                text        not null default 'none' check (auth in ('none', 'password', 'oauth2')),
  username            text,
  -- Which of the known providers it is, if any.
  preset              text        collate "C",
  -- Of the operator's organization: for organizations without a mail server for an email.
  is_shared           boolean     not null default false,
  kinds               text[]      not null default '{transactional,marketing}',
  -- Empty: email from all domains.
  from_domains        text[]      not null default '{}',
  -- Lower is tried first. Among equal ones, the weight is the share.
  priority            int         not null default 10,
  weight              int         not null default 100,
  connections         int         not null default 5,
  messages_per_second float8,
  messages_per_day    int,
  -- Whether the limits of receiving sites apply to it.
  shape_by_receiver   boolean     not null default false,
  status              text        not null default 'untested' check (status in ('untested', 'working', 'failing')),
  -- While it is failing: the last problem, since when, and the next try.
  failure             text,
  failing_since       timestamptz,
  next_try_at         timestamptz,
  -- When webhooks and owners were told of it.
  failure_reported_at timestamptz,
  tested_at           timestamptz,
  updated_at          timestamptz not null default now(),
  created_at          timestamptz not null default now(),
  primary key (organization_id, id)
);

-- The mail server that carried the email. Of a queued email: the only one that may, because it may have done so already.
alter table messages add column mail_server_id uuid;
