-- The organization whose email the site deferred last. Mail servers that several organizations use are slowed down only if it has
-- deferred email of two of them.
alter table receiving_sites add column deferred_by uuid;
