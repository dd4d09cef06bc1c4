-- A dry run counts what an import would do. It ends as checked, with its file, and can then be started.
alter table imports add column dry_run boolean not null default false;
alter table imports drop constraint imports_status_check;
alter table imports add constraint imports_status_check
  check (status in ('uploading', 'queued', 'running', 'checked', 'done', 'failed', 'cancelled'));
