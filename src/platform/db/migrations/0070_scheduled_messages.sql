-- Emails can be scheduled and cancelled.
alter table messages
  -- The time at which the email is to be sent; null if it was sent at once.
  add column send_at timestamptz(3),
  -- True from the moment a worker takes over a message that could be cancelled until then: one that is scheduled, or that
  -- the mail server deferred. Always false for the first attempt of other messages.
  add column sending boolean not null default false;

-- Not validated: the rows satisfied a stricter rule, and reading all of them would block the writers.
alter table messages drop constraint messages_status_check;
alter table messages add constraint messages_status_check
  check (status in ('queued', 'sent', 'bounced', 'suppressed', 'failed', 'cancelled')) not valid;
