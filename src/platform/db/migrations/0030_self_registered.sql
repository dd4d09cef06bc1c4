-- Whether the organization was registered through open sign-up. The daily limit for new organizations does not apply to
-- the first organization of an installation and to those created by the operator.
alter table organizations add column self_registered boolean not null default false;
