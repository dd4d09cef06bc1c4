-- Notices to the users of an organization, for example about a webhook that was paused automatically.

create table notices (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  kind            text        not null check (kind in ('webhook_paused')),
  title           text        not null,
  detail          text        not null,
  webhook_id      uuid,
  created_at      timestamptz not null default now(),
  primary key (organization_id, id)
);

-- Pending emails about notices, one per owner. The id is also used in the Message-ID, so that duplicates can be
-- recognized.
create table notice_mails (
  organization_id uuid        not null,
  id              uuid        not null,
  notice_id       uuid        not null,
  user_id         uuid        not null,
  -- Claimed by moving this into the future: if the process dies, the email is retried at that time.
  next_try_at     timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, notice_id) references notices on delete cascade
);
create index notice_mails_due on notice_mails (next_try_at);
