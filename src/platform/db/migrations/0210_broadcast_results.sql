-- The results of a broadcast as they were counted last. Counting those of a million recipients takes seconds, so pages show
-- these and have them counted again in the background.
create table broadcast_results (
  organization_id uuid        not null references organizations on delete cascade,
  broadcast_id    uuid        not null,
  counted_at      timestamptz not null,
  -- How long counting took: the longer, the less often it is repeated.
  count_ms        integer     not null,
  -- Totals, and by variant and hour.
  reactions       jsonb       not null,
  -- The links that were clicked most often.
  links           jsonb       not null,
  primary key (organization_id, broadcast_id)
);
