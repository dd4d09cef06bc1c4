-- Changes of event_counters and flow_counters that are added to them within a second: the events of many organizations
-- change too many counters for one transaction. Written with the events, and deleted in the transaction that adds them.
create table pending_counts (
  organization_id uuid not null,
  id              uuid not null default gen_random_uuid(),
  counts          json not null,
  primary key (organization_id, id)
);
