-- A flow sends one email to one contact. Saving a flow creates a new version; a message keeps the version with which it
-- was accepted.

create table flows (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  name            text        not null check (length(name) between 1 and 200),
  kind            text        not null check (kind in ('transactional', 'marketing')),
  status          text        not null default 'active' check (status in ('active', 'paused', 'archived')),
  version_id      uuid        not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  -- A deleted flow is kept for its messages and hidden everywhere else.
  deleted_at      timestamptz,
  primary key (organization_id, id)
);

create table flow_versions (
  organization_id uuid        not null,
  id              uuid        not null,
  flow_id         uuid        not null,
  number          integer     not null,
  subject         text        not null,
  -- The source in html_format; html is what is sent (compiled from MJML on saving).
  source          text        not null,
  html_format     text        not null check (html_format in ('html', 'mjml')),
  html            text        not null,
  -- The flow's own text; else the one derived from the HTML template; else it is made from each mail's HTML.
  text            text,
  derived_text    text,
  from_name       text,
  from_email      text,
  reply_to        text,
  variables       jsonb       not null,
  created_at      timestamptz not null default now(),
  created_by      uuid,
  primary key (organization_id, id),
  unique (organization_id, flow_id, number),
  foreign key (organization_id, flow_id) references flows on delete cascade deferrable initially deferred
);
