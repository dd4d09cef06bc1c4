-- When `waxwing backup` last finished, for monitoring. At most one row.
create table last_backup (
  only_row    boolean     primary key default true check (only_row),
  finished_at timestamptz not null
);
