-- Work that must happen later. A job is written in the transaction of its cause, so a crash can neither lose it nor
-- run it for something that never happened.
--
-- A lane is a queue of its own: one webhook endpoint, or a part of one organization's mail. A worker takes a whole lane
-- by writing its token and a lease into the lane's row, and then reads the lane's jobs without touching them: a job
-- costs one insert and one delete. Whatever ends or postpones a job matches the lane's token, so that a worker which
-- lost its lease while it was paused can no longer change anything.

create table lanes (
  organization_id uuid        not null,
  kind            text        collate "C" not null,
  lane            text        collate "C" not null,
  -- The earliest time at which a job of this lane may be due; null while the lane is empty.
  next_due_at     timestamptz,
  -- A held lane (a paused webhook) keeps its jobs and is offered to nobody.
  held            boolean     not null default false,
  token           uuid,
  leased_until    timestamptz not null default '-infinity',
  primary key (organization_id, kind, lane)
) with (fillfactor = 50);

-- The one look-up without an organization: which lanes are due. Idle lanes are not in it.
create index lanes_due on lanes (kind, next_due_at) where next_due_at is not null and not held;

create table jobs (
  organization_id uuid           not null,
  kind            text           collate "C" not null,
  lane            text           collate "C" not null,
  -- Milliseconds, so that the time survives the way through a JavaScript Date and the key can be matched exactly.
  due_at          timestamptz(3) not null,
  id              uuid           not null,
  attempt         integer        not null default 0,
  payload         jsonb,
  -- The order in which a lane is read is the key itself: one index to keep on the hottest table.
  primary key (organization_id, kind, lane, due_at, id)
);
alter table jobs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table lanes set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
