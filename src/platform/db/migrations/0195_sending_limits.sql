-- What is used of limits of email per second and per day: of mail servers, receiving sites and warm-up plans. Limits of the
-- whole installation belong to an organization with the least id, which does not exist.
create table sending_limit_uses (
  organization_id uuid        not null,
  key             text        collate "C" not null,
  -- The last day (UTC) on which email was sent, the number of such days, and how many emails it was.
  day             date        not null,
  days            int         not null default 1,
  used            int         not null default 0,
  -- The time of the next email.
  next_at         timestamptz not null default 'epoch',
  -- Until when emails were told to wait, by urgency.
  urgent_until    timestamptz not null default 'epoch',
  waited_until    timestamptz not null default 'epoch',
  bulk_until      timestamptz not null default 'epoch',
  primary key (organization_id, key)
);
create index sending_limit_uses_by_day on sending_limit_uses (day);
