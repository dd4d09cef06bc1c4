-- An import can be cancelled.

alter table imports drop constraint imports_status_check;
alter table imports add constraint imports_status_check
  check (status in ('uploading', 'queued', 'running', 'done', 'failed', 'cancelled'));
