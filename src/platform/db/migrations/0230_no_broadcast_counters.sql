-- The results of broadcasts are counted from their recipients only, and stored in broadcast_results.
delete from flow_counters where kind = 'broadcast';
delete from flow_counter_values where kind = 'broadcast';
