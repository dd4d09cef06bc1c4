-- Counts the changes of the content, so that one of two people who edit a broadcast at the same time notices the other.
alter table broadcasts add column revision integer not null default 1;
