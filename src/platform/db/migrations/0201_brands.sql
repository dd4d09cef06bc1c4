-- How the emails and pages of an organization look. Null fields have default values.
create table brands (
  organization_id  uuid        primary key references organizations on delete cascade,
  name             text,
  logo_image_id    uuid,
  color            text        collate "C",
  background_color text        collate "C",
  font             text        collate "C",
  postal_address   text,
  website_url      text        collate "C",
  updated_at       timestamptz not null default now()
);

alter table flow_versions
  -- The hidden text that email clients show after the subject.
  add column preheader text,
  -- The values of brand.… when the version was published. Null if the template does not read them.
  add column brand jsonb;
alter table flow_drafts add column preheader text;
