-- Saved filters of contacts. The filter is evaluated when it is used; membership is not stored.

create table segments (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  name            text        not null check (length(name) between 1 and 200),
  -- As in the API: see src/segments/filter.ts.
  filter          jsonb       not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create unique index segments_by_name on segments (organization_id, lower(name));
