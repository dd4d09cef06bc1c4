-- What the events of a flow were about: the version that was sent, the domain that received the email, the link that was
-- clicked, the reason of a bounce. Written with the event, like event_counters.

-- The link of a click, without the parts of its URL that are different for every recipient (src/events/link.ts). Null for
-- other events and for clicks from before this migration.
alter table events add column link text;

-- By UTC day, and by quarter of an hour for the first and last day of a period in other time zones. The empty value counts what
-- is not in flow_counter_values.
create table flow_counters (
  organization_id uuid        not null,
  flow_id         uuid        not null,
  grain           text        collate "C" not null check (grain in ('day', 'quarter')),
  kind            text        collate "C" not null check (kind in ('domain', 'link', 'reason', 'version')),
  starts_at       timestamptz not null,
  value           text        collate "C" not null,
  event_name      text        collate "C" not null,
  total           bigint      not null,
  uniques         bigint      not null,
  machine         bigint      not null,
  primary key (organization_id, flow_id, grain, kind, starts_at, value, event_name)
) with (fillfactor = 70);

-- The values that are counted one by one on a UTC day. Their number is limited: a link can be different in every email.
-- A value is never removed, so that counting the events again gives the same result.
create table flow_counter_values (
  organization_id uuid   not null,
  flow_id         uuid   not null,
  kind            text   collate "C" not null,
  day             date   not null,
  counted         text[] collate "C" not null,
  primary key (organization_id, flow_id, kind, day)
);
