-- By which APP_SECRET this database is used, told by a mark that tells nothing else of it: links and webhook secrets made
-- with another one would be worth nothing to the processes that have this one. One row at most.

create table secret_mark (
  only_row boolean primary key default true check (only_row),
  mark     text    not null
);
