-- What the people of an organization should know, such as a webhook that was paused by itself.

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

-- Mails about notices that are still to be sent, one for each owner. The id is also the mail's, so that one sent a
-- second time is seen to be the same.
create table notice_mails (
  organization_id uuid        not null,
  id              uuid        not null,
  notice_id       uuid        not null,
  user_id         uuid        not null,
  -- Taken by moving this ahead: whoever dies meanwhile leaves it to be tried again then.
  next_try_at     timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, notice_id) references notices on delete cascade
);
create index notice_mails_due on notice_mails (next_try_at);
