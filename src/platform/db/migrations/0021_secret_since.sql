-- When the current APP_SECRET was first used. The previous one signs no sessions after that time.
alter table secret_mark add column since timestamptz not null default now();
