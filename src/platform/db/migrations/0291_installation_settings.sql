-- Settings of the installation that an operator enters in the web app. The environment takes precedence.
create table installation_settings (
  only_row boolean primary key default true check (only_row),
  base_url text    collate "C"
);
