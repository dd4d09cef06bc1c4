-- Signatures of provider webhooks that were accepted. They cover no content, so each is good for one content only.
create table provider_signatures (
  signature  bytea       primary key,
  content    bytea       not null,
  expires_at timestamptz not null
);
create index provider_signatures_by_expiry on provider_signatures (expires_at);
