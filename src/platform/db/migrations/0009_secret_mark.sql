-- A one-way fingerprint of the APP_SECRET with which this database is used: links and webhook secrets created with
-- another secret could not be verified or decrypted. At most one row.

create table secret_mark (
  only_row boolean primary key default true check (only_row),
  mark     text    not null
);
