-- no transaction
-- For the list of test emails. Other messages are not in it.
create index concurrently messages_tests on messages (organization_id, id) where is_test;
