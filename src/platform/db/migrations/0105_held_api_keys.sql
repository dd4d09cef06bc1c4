-- Keys of an imported organization, which do not work until the operator confirms the import.
alter table api_keys add column is_held boolean not null default false;
