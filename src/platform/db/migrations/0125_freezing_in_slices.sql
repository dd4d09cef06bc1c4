-- Recipients are frozen in slices. How far it came while it is not finished:
-- {"to": contact, "contacts": number, "recipients": number, "zones": {key: zone}}
alter table broadcasts add column freezing jsonb;

-- Bulk actions select their contacts in slices: the last contact that was looked at, until all are selected.
alter table bulk_actions add column selected_to uuid;
