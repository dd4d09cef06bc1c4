-- A broadcast through a transactional flow also reaches contacts that unsubscribed, so it has to be declared. Broadcasts from
-- before are not: drafts of transactional flows have to be declared before they can be started.
alter table broadcasts add column service_announcement boolean not null default false;
