-- Changes to a contact by users, API keys and imports, for its timeline and as a record of consent. Opens, clicks and
-- bounces are in events. The entries of a contact are deleted when it is erased.

create table contact_history (
  organization_id uuid           not null,
  contact_id      uuid           not null,
  -- Milliseconds, so that it round-trips through a JavaScript Date in a page cursor.
  at              timestamptz(3) not null default now(),
  -- Equal to the id of the event if there is one, as for an unsubscription: the timeline then shows the event, with
  -- this actor.
  id              uuid           not null,
  type            text           not null,
  actor_type      text           not null check (actor_type in ('user', 'api_key', 'import', 'recipient', 'system')),
  actor_id        uuid,
  details         jsonb          not null default '{}',
  primary key (organization_id, contact_id, at, id)
);

-- Creating contacts and adding members in bulk writes no history rows: the actor is stored in the row itself. Null for
-- rows from before this migration, and for contacts created by a send.
alter table contacts add column created_by_type text, add column created_by_id uuid;
alter table group_members add column added_by_type text, add column added_by_id uuid;
