-- The host of links and the host of the return path of a domain: `links.example.com` and `bounces.example.com`.
alter table domains
  add column tracking_label     text    not null default 'links',
  add column return_path_label  text    not null default 'bounces',
  -- Whether new emails carry the host: its record was found, and not missed since.
  add column uses_tracking_host boolean not null default false,
  add column uses_return_path   boolean not null default false;

-- The organization whose links are served at a host. Looked up by the host of a request.
create table tracking_hosts (
  host            text collate "C" primary key,
  organization_id uuid not null references organizations on delete cascade
);
