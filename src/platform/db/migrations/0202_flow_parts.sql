-- Pieces of templates that flows include by name, such as a footer. Published versions contain their text.
create table flow_parts (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  name            text        collate "C" not null,
  html            text        not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id),
  unique (organization_id, name)
);
