-- Actions on many contacts, carried out in the background.

create table bulk_actions (
  organization_id uuid        not null,
  id              uuid        not null,
  action          text        not null
    check (action in ('add_to_group', 'remove_from_group', 'unsubscribe', 'suppress', 'erase')),
  group_id        uuid,
  -- The ids of the contacts, or a filter.
  selection       jsonb       not null,
  status          text        not null check (status in ('queued', 'running', 'done', 'failed', 'cancelled')),
  reason          text,
  -- Null until the contacts have been selected.
  total           bigint,
  processed       bigint      not null default 0,
  -- The contacts that the action changed; the others were in the wanted state before.
  changed         bigint      not null default 0,
  actor_type      text        not null,
  actor_id        uuid,
  created_at      timestamptz not null default now(),
  finished_at     timestamptz,
  primary key (organization_id, id)
);

-- The contacts that an action still has to process, selected by one statement when it starts.
create table bulk_action_contacts (
  organization_id uuid        not null,
  bulk_action_id  uuid        not null,
  contact_id      uuid        not null,
  primary key (organization_id, bulk_action_id, contact_id)
);
