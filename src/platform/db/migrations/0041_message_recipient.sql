-- The values of the contact and the organization that the template of the message reads, as they were when the message was
-- accepted: sending it again and showing it later yield the same email. Null after the contact was erased.
alter table messages add column recipient jsonb;

update messages
set recipient = jsonb_strip_nulls(jsonb_build_object(
  'first_name', contacts.first_name, 'last_name', contacts.last_name,
  'attributes', contacts.attributes, 'organization', organizations.name))
from contacts, organizations
where contacts.organization_id = messages.organization_id and contacts.id = messages.contact_id
  and organizations.id = messages.organization_id and messages.context is not null;
