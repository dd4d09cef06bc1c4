-- Events of messages and contacts. Partitioned by month using the time in the UUIDv7 id, so that old months can be
-- dropped as a whole. The counters below do not depend on the rows.

create table events (
  organization_id uuid        not null,
  id              uuid        not null,
  event_name      text        collate "C" not null,
  -- Milliseconds, so that it round-trips through a JavaScript Date in a page cursor.
  occurred_at     timestamptz(3) not null,
  message_id      uuid,
  flow_id         uuid,
  contact_id      uuid        not null,
  machine         boolean     not null default false,
  machine_reason  text,
  -- The rest of the webhook's data: url, user_agent, ip, bounce, feedback_type, method.
  data            jsonb       not null default '{}',
  primary key (organization_id, id),
  -- What is counted for a flow is counted by its messages.
  check (flow_id is null or message_id is not null)
) partition by range (id);
-- By time of occurrence, not by id: the id of a bounce contains the time of its message, so that repeated reports are
-- one event. Used for the timeline of a contact, the events of a message and the detection of bursts.
create index events_by_contact on events (organization_id, contact_id, occurred_at);
create index events_by_name on events (organization_id, event_name, occurred_at);
create table events_default partition of events default;

-- The time since which individual events are complete; older ones were dropped by retention. At most one row.
create table events_kept (
  only_row boolean     primary key default true check (only_row),
  since    timestamptz not null
);

-- The first human occurrence of each kind of event for each message (or contact, where there is no message).
-- previous_at is occurred_at before the last change: the statement that changed it decrements the counter of that time.
-- It is infinity if all human occurrences turned out to be caused by machines.
create table first_occurrences (
  organization_id uuid        not null,
  subject_id      uuid        not null,
  event_name      text        collate "C" not null,
  flow_id         uuid,
  occurred_at     timestamptz not null,
  previous_at     timestamptz,
  primary key (organization_id, subject_id, event_name)
);

-- Counters in three grains: a day's sum in any time zone is read from the coarsest grain that its offsets allow
-- (whole days for UTC, hours for most zones, quarters of an hour for the rest).
-- flow_id is the nil UUID for the sum over all flows.
create table event_counters (
  organization_id uuid        not null,
  event_name      text        collate "C" not null,
  flow_id         uuid        not null,
  grain           text        collate "C" not null check (grain in ('day', 'hour', 'quarter')),
  starts_at       timestamptz not null,
  total           bigint      not null,
  uniques         bigint      not null,
  machine         bigint      not null,
  primary key (organization_id, event_name, flow_id, grain, starts_at)
) with (fillfactor = 70);
