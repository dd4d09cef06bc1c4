-- Whether every running process knows the migration, so that it also reads the formats that came with it.
alter table schema_migrations add column known_by_all boolean not null default false;
