-- Which responses acknowledge a delivery, and which 4xx responses are retried.
alter table webhooks add column acknowledge text not null default '200';
alter table webhooks add column retry_4xx int[] not null default '{}';
alter table webhooks add constraint webhooks_acknowledge_check check (acknowledge in ('200', '2xx'));
alter table webhooks add constraint webhooks_retry_4xx_check check (retry_4xx <@ '{408,425,429}'::int[]);
