-- The bodies of emails without a flow are deleted at the same time as their files: files_until is the time for both. Those
-- that are still queued then are kept for longer by the loop that deletes them.
update email_contents set files_until = created_at + interval '30 days'
where files_until is null and details->'attachments' = '[]' and details->'raw' = 'null';

-- The files of these were deleted, 30 days after the email was sent.
update email_contents set html = null, text = null, body_bytes = 0
where files_until is null and (html is not null or text is not null);
