-- no transaction
-- Events of one transaction have the same position, so their entries are stored once. By position 0, nobody looks.
create index concurrently events_by_feed_position on events (organization_id, feed_position) where feed_position > 0;
