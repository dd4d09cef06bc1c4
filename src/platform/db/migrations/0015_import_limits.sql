-- How often an import was started since it last made progress. A file that repeatedly crashes the process is abandoned.
alter table imports add column starts integer not null default 0;

-- The cells of a rejected row, so that it can be fixed and imported again.
alter table import_problems add column cells jsonb;
