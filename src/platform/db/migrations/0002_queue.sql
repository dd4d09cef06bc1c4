-- Background work. A job is written in the transaction of its cause, so a crash can neither lose it nor run a job whose
-- cause was rolled back.
--
-- A lane is a separate queue: one webhook endpoint, or a part of one organization's emails. A worker claims a whole
-- lane by writing its token and a lease into the lane's row, and then reads the lane's jobs without updating them: a
-- job costs one insert and one delete. Statements that end or postpone a job match the lane's token, so that a worker
-- that lost its lease cannot change anything.

create table lanes (
  organization_id uuid        not null,
  kind            text        collate "C" not null,
  lane            text        collate "C" not null,
  -- The earliest time at which a job of this lane may be due; null while the lane is empty.
  next_due_at     timestamptz,
  -- True if the lane is paused (a paused webhook): it keeps its jobs and cannot be claimed.
  held            boolean     not null default false,
  token           uuid,
  leased_until    timestamptz not null default '-infinity',
  primary key (organization_id, kind, lane)
) with (fillfactor = 50);

-- The only query without an organization: which lanes are due. Idle lanes are not in the index.
create index lanes_due on lanes (kind, next_due_at) where next_due_at is not null and not held;

create table jobs (
  organization_id uuid           not null,
  kind            text           collate "C" not null,
  lane            text           collate "C" not null,
  -- Milliseconds, so that the time round-trips through a JavaScript Date and the key matches exactly.
  due_at          timestamptz(3) not null,
  id              uuid           not null,
  attempt         integer        not null default 0,
  payload         jsonb,
  -- The key is also the order in which a lane is read, so the busiest table needs only one index.
  primary key (organization_id, kind, lane, due_at, id)
);
alter table jobs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table lanes set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
