-- What requests were answered with: redacted, and not for successful reads, which repeat what is stored elsewhere.
alter table api_requests
  add column response text,
  -- Why an accepted email is not sent, such as "unsubscribed".
  add column not_sent text;
