-- no transaction
-- For messages that share their content. Others are not in it.
create index concurrently messages_content on messages (organization_id, content_id) where content_id is not null;
