-- The sender of emails whose flow has none. Null: that of the installation.
alter table organizations
  add column default_sender_name text,
  add column default_sender_email text collate "C";
