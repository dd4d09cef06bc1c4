-- The order of the event feed: the epoch (below) in the upper bits, and the id of the transaction that recorded the event. Once
-- no transaction with a lower id is running, no event can appear before it (src/events/feed-positions.ts). Earlier events
-- have 0 and come first, by id.
alter table events add column feed_position int8 not null default 0;
alter table events alter column feed_position set default 0 + pg_current_xact_id()::text::int8;

-- Always one row.
create table event_feed (
  only_row          boolean     primary key default true check (only_row),
  -- Part of every cursor, so that those of other installations are rejected.
  feed_id           int4        not null default floor(random() * 2147483647),
  -- Transaction ids begin again if the tables are restored into another server: then the epoch is increased.
  epoch             int4        not null default 0,
  server            text,
  -- The highest position of an event that the retention period has removed.
  dropped_through   int8        not null default 0,
  -- No event with the position 0 was recorded after this time.
  created_at        timestamptz not null default now()
);
insert into event_feed default values;
