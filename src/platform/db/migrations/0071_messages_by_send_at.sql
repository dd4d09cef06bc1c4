-- no transaction
-- For the list of scheduled messages. Messages that were sent at once are not in it.
create index concurrently messages_by_send_at on messages (organization_id, send_at) where send_at is not null;
