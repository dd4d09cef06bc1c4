-- Replaces the subject of the flow. Null: the subject of the flow.
alter table broadcasts add column subject text;
