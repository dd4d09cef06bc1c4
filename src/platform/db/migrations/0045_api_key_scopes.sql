-- Keys from before scopes per resource keep their power: the public API only. Also the default, for keys that are created
-- by a process of the previous version during an upgrade.
alter table api_keys add column public_only boolean not null default true;
