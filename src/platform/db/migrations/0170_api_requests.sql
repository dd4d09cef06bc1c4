-- The last requests of each API key. A log: rows are written after the response and may be lost in a crash.
create table api_requests (
  organization_id uuid        not null,
  request_id      text        not null collate "C",
  api_key_id      uuid        not null,
  at              timestamptz not null,
  -- How the request was made: the HTTP API, or another protocol.
  via             text        not null default 'api',
  method          text        not null,
  route           text        not null,
  path            text        not null,
  status          smallint    not null,
  duration_ms     real        not null,
  client          text,
  user_agent      text,
  error_type      text,
  error_message   text,
  error_fields    json,
  -- Of rejected requests (4xx), redacted.
  query           text,
  body            text,
  primary key (organization_id, request_id)
);
create index api_requests_by_time on api_requests (organization_id, at, request_id);
create index api_requests_by_key on api_requests (organization_id, api_key_id, at, request_id);
-- For the deletion of old rows.
create index api_requests_by_age on api_requests (at);
