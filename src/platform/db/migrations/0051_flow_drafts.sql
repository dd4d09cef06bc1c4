-- Unpublished changes of flows. Emails are sent with the published version.

-- A flow that was never published has the status 'draft' and no version.
alter table flows
  alter column version_id drop not null,
  -- The revision of the latest draft. Never decreases, so that a revision identifies one draft for good.
  add column draft_revision integer not null default 0;
alter table flows drop constraint flows_status_check;
alter table flows add constraint flows_status_check check (status in ('active', 'paused', 'archived', 'draft'));
alter table flows add constraint flows_version_check
  check (version_id is not null or status = 'draft' or deleted_at is not null);

-- A version without a number is a draft at the time of a test email. It has the kind of the draft.
alter table flow_versions
  alter column number drop not null,
  add column kind text check (kind in ('transactional', 'marketing'));

-- At most one per flow. The template may be invalid; it is compiled when it is published.
create table flow_drafts (
  organization_id uuid        not null,
  flow_id         uuid        not null,
  revision        integer     not null,
  -- The number of the published version that the draft is based on; 0 if there was none.
  base_version    integer     not null,
  name            text        not null check (length(name) between 1 and 200),
  kind            text        not null check (kind in ('transactional', 'marketing')),
  subject         text        not null,
  html            text        not null,
  html_format     text        not null check (html_format in ('html', 'mjml')),
  text            text,
  from_name       text,
  from_email      text,
  reply_to        text,
  -- The version of test emails of this revision, if any were sent.
  test_version_id uuid,
  updated_at      timestamptz not null default now(),
  updated_by      uuid,
  primary key (organization_id, flow_id),
  foreign key (organization_id, flow_id) references flows on delete cascade deferrable initially deferred
);
