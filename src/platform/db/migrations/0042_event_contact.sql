-- The contact's address and first name when the event was recorded: the body of a webhook is built from the event alone and is
-- the same at every attempt. Null after the contact was erased.
alter table events add column contact_email text, add column contact_first_name text;

update events
set contact_email = contacts.email, contact_first_name = contacts.first_name
from deliveries, contacts
where deliveries.organization_id = events.organization_id and deliveries.event_id = events.id and deliveries.body is null
  and contacts.organization_id = events.organization_id and contacts.id = events.contact_id;
