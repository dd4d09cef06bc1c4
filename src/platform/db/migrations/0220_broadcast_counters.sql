-- Events are also counted by broadcast. Only the service writes counters, and it knows their kinds.
alter table flow_counters drop constraint flow_counters_kind_check;
