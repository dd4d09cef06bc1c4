-- Copies of settings of the operator that all organizations use. They are read while the node of a distributed database that
-- has the operator's rows is down: otherwise the email of all organizations would wait for that node.
create table operator_copies (
  name    text  primary key,
  content jsonb not null
);
