-- Whether the organization was registered by a stranger through open sign-up. The first organization of an installation and
-- those that the operator creates are not: the daily limit for new organizations does not apply to them.
alter table organizations add column self_registered boolean not null default false;
