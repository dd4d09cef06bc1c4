-- Parameters that are added to the links of emails: source, medium, campaign and content. Null: none; for a broadcast, those
-- of its flow.
alter table flow_versions add column utm jsonb;
alter table flow_drafts add column utm jsonb;
alter table broadcasts add column utm jsonb;
