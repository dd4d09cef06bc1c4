-- Who runs the installation, who created credentials, and sign-out on the server.

alter table organizations
  -- The organization of the operator: the first one that was registered. Its owners see the settings of the mail relay.
  add column is_operator boolean not null default false,
  -- Set when an owner deletes the organization. Its rows are erased in the background, this one last.
  add column deleted_at timestamptz;
update organizations set is_operator = true where id = (select id from organizations order by created_at, id limit 1);
create unique index organizations_operator on organizations (is_operator) where is_operator;
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

-- Sessions contain the epoch at which they were created. Incrementing it signs the user out everywhere.
alter table users add column session_epoch integer not null default 0;

-- No foreign keys: a credential keeps the id of its creator after the creator was removed.
alter table invitations add column invited_by uuid;
alter table api_keys add column created_by uuid;
alter table webhooks add column created_by uuid;

-- A link that is not limited to an address cannot invite owners.
update invitations set role = 'member' where email is null;
