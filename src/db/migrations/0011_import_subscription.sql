-- What becomes of people that an import finds new: the file may come from a system in which nobody agreed to marketing.

alter table imports add column subscription text not null default 'subscribed'
  check (subscription in ('subscribed', 'not_subscribed'));
