-- The subscription of contacts created by an import: the file may come from a system without consent to marketing.

alter table imports add column subscription text not null default 'subscribed'
  check (subscription in ('subscribed', 'not_subscribed'));
