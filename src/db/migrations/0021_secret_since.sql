-- When the present APP_SECRET was first used here. The previous one signs no sessions after that time.
alter table secret_mark add column since timestamptz not null default now();
