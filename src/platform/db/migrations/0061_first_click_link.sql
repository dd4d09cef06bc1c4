-- The link of the first click, as an MD5 hash: a further click on the same link needs no look at the events. Null if it is
-- unknown, as after the first click turned out to be made by a machine.
alter table first_occurrences add column link_id uuid;
