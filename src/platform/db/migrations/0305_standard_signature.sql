-- The webhook-signature that was sent. Null for attempts before it was stored.
alter table delivery_attempts add column standard_signature text;
