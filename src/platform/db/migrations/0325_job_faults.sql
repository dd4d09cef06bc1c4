-- How many of the attempts of a job ended with an internal error, one after the other. Each is counted in `attempt` as well.
alter table jobs add column faults integer not null default 0;
