-- no transaction
-- Few of a million recipients may have failed. The index has no status, so that an email that is sent still changes no index.
create index concurrently broadcast_recipients_with_reason on broadcast_recipients (organization_id, broadcast_id, contact_id)
  where reason is not null;
