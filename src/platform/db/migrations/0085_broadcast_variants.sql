-- Variants of a broadcast: up to four subjects or versions of its flow. A sample of the recipients is divided among them, and
-- the rest gets the winner.
alter table broadcasts
  -- [{"subject": text or null, "flow_version": number or null, "share": percent of the sample}]
  add column variants jsonb not null default '[]',
  -- The percentage of the recipients in the sample. With 100 there is no winner.
  add column test_percent smallint not null default 20,
  add column winner_by text not null default 'opens' check (winner_by in ('opens', 'clicks', 'manual')),
  -- How long after the last email of the sample the winner is chosen.
  add column decide_after_seconds integer not null default 14400,
  -- When the winner will be chosen. Set when the sample is sent.
  add column decides_at timestamptz,
  -- The position of the winner in variants, and since when the rest is being sent.
  add column winner smallint,
  add column decided_at timestamptz;

-- The position of the variant for a recipient in the sample; null for the rest.
alter table broadcast_recipients add column variant smallint;

-- Which recipients of its range or zone the part sends.
alter table broadcast_parts
  add column recipients text not null default 'all' check (recipients in ('all', 'sample', 'rest'));
