-- Pictures for emails. Their contents are stored files.
create table images (
  organization_id uuid        not null references organizations on delete cascade,
  id              uuid        not null,
  file_id         uuid        not null,
  -- Part of the public address, so that nobody can guess it.
  secret          bytea       not null,
  name            text        not null,
  -- The text that is shown if the picture is not.
  alt_text        text        not null default '',
  content_type    text        collate "C" not null,
  width           int         not null,
  height          int         not null,
  -- More than 1 if it is animated.
  frames          int         not null,
  bytes           bigint      not null,
  created_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
