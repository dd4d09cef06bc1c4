-- What a notice is about, besides webhooks, so that it is known whether that still lasts. And who dismissed it.
alter table notices
  add column target_id uuid,
  add column dismissed_at timestamptz,
  add column dismissed_by uuid;
