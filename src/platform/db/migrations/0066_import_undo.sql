-- What an import changed, so that it can be undone: the previous and the new values of contacts, and suppressed addresses.
-- Created contacts and memberships are found by their own columns. Deleted after the undo, or when it is no longer possible.
create table import_changes (
  organization_id uuid        not null,
  import_id       uuid        not null,
  -- Ordered by time.
  id              uuid        not null,
  -- Null for a suppression.
  contact_id      uuid,
  -- For a contact: first_name, last_name and subscription as [previous, new]; attributes by name as [new], or [new, previous]
  -- if the contact had the attribute. For a suppression: email_key and reason.
  change          jsonb       not null,
  -- Equal to updated_at of the contact until it is changed again.
  at              timestamptz not null default now(),
  primary key (organization_id, import_id, id)
);
create index import_changes_by_contact on import_changes (organization_id, contact_id);

-- is_undoable: the changes of the import are recorded. undo: null, or the state of the undo.
alter table imports add column is_undoable boolean not null default false, add column undo jsonb;
