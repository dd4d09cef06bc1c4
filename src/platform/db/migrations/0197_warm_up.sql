-- How many emails leave from a new domain on the first, second, … day on which it sends. Null: no plan.
alter table domains add column warm_up_plan int[];
