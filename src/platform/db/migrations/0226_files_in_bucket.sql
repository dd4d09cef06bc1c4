-- Whether the content is an object in the bucket of IMAGES_S3_BUCKET, instead of chunks. Such a row exists before its object
-- does, and until it is deleted: see src/email-contents/bucket-files.ts.
alter table stored_files add column in_bucket boolean not null default false;
