-- When each user signed in last. In a table of its own: every node of a distributed database has a copy of users, so nobody
-- could sign in while a node is down. users.last_login_at has the earlier times, and those of processes of earlier versions.
create table sign_ins (
  organization_id uuid        not null,
  user_id         uuid        not null,
  last_at         timestamptz not null default now(),
  primary key (organization_id, user_id)
);
