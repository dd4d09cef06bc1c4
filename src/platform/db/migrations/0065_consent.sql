-- The address of the user, API client or recipient that changed a contact, if the organization stores addresses.
alter table contact_history add column ip text;

-- Whether the contact was subscribed when it was created, which later changes hide. Null for contacts from before this
-- migration and for those created by a send, which are never subscribed.
alter table contacts add column created_subscribed boolean;
