-- How often an import was started since it last made progress. A file that ends the process each time is given up.
alter table imports add column starts integer not null default 0;

-- The cells of a rejected row, so that it can be fixed and imported again.
alter table import_problems add column cells jsonb;
