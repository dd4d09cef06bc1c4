-- The user who last changed how the mail server connects. Emails with links that sign in leave through it only if this is an
-- owner. Null for those from before: until an owner enters the credentials again.
alter table mail_servers add column connected_by uuid;
