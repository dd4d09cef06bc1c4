-- While the row exists, no email and no webhook is sent. At most one row.
create table sending_pause (
  only_row boolean     primary key default true check (only_row),
  -- What was queued before this time can be discarded when sending is resumed.
  since    timestamptz not null default now(),
  reason   text        not null check (reason in ('restored', 'operator'))
);
