-- no transaction
-- One sixteenth of the contacts, and their events: counts that would take long are estimated from them
-- (src/segments/matches.ts has the same condition). The other rows are not in these indexes.
create index concurrently contacts_sample on contacts (organization_id, id) where get_byte(uuid_send(id), 15) < 16;
create index concurrently events_sample on events (organization_id, event_name, occurred_at)
  include (contact_id, flow_id, machine)
  where get_byte(uuid_send(contact_id), 15) < 16;
