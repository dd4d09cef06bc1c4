/**
 * Work in progress, short-lived credentials, logs, hosts whose DNS records point to the exporting installation, and mail
 * servers, whose credentials are encrypted with its APP_SECRET.
 */
export const excludedTables = new Set([
  'account_mails',
  'api_requests',
  'bulk_action_contacts',
  'broadcast_parts',
  'email_changes',
  'import_changes',
  'import_chunks',
  'jobs',
  'lanes',
  'mail_servers',
  'notice_mails',
  'password_resets',
  'sessions',
  'tracking_hosts',
])

/**
 * Tables whose rows are rights, credentials or uses of limits: verified names, invitations, and what was sent today. An
 * export names them without rows, and the rows of a file, which version 0.2.0 wrote, are not imported.
 */
export const emptyTables: ReadonlySet<string> = new Set(['invitations', 'sending_limit_uses', 'verified_domains'])

/**
 * Columns that depend on the installation. Secrets of webhooks and exports are encrypted with its APP_SECRET. Positions in the event
 * feed are transaction ids of its database. The limits for new
 * organizations depend on how and when it was created in this installation.
 */
export const excludedColumns: Record<string, string[]> = {
  api_keys: ['is_held'],
  event_exports: ['secret', 'cursor', 'pending_until', 'pending_file'],
  events: ['feed_position'],
  organizations: ['is_operator', 'self_registered', 'created_at'],
  webhooks: ['secret', 'previous_secret', 'previous_secret_until'],
}

const notSent = "'Not sent when the organization was exported'"

/**
 * Expressions that replace the values of columns. The importing installation must not send anything that the exporting
 * one still sends, and no state that means a right is taken over. Applied at export and at import, because the file may
 * have been edited.
 */
export const exportedValues: Record<string, Record<string, string>> = {
  // The default sender names a domain, which is not verified yet.
  organizations: {
    deleted_at: 'null::timestamptz',
    default_sender_name: 'null',
    default_sender_email: 'null',
  },
  messages: {
    status: "case when status = 'queued' then 'failed' else status end",
    reason: `case when status = 'queued' then ${notSent} else reason end`,
  },
  deliveries: {
    status: "case when status = 'pending' then 'failed' else status end",
    reason: `case when status = 'pending' then ${notSent} else reason end`,
    next_attempt_at: 'null::timestamptz',
  },
  bulk_actions: {
    status: "case when status in ('queued', 'running') then 'cancelled' else status end",
    finished_at: 'coalesce(finished_at, now())',
  },
  broadcasts: {
    status: "case when status in ('scheduled', 'preparing', 'sending', 'paused') then 'cancelled' else status end",
  },
  broadcast_recipients: {
    status: "case when status in ('pending', 'queued') then 'cancelled' else status end",
  },
  imports: {
    status: "case when status in ('uploading', 'queued', 'running') then 'cancelled' else status end",
    is_undoable: 'false',
  },
  // Each gets its own proof, since the published one of another organization is public, and its own key, since this one is
  // encrypted with the APP_SECRET of the exporting installation.
  domains: {
    status: "'pending'",
    ownership_token: "''",
    selector: "''",
    dkim_key: "''::bytea",
    dkim_public_key: "''",
    next_selector: 'null',
    next_dkim_key: 'null::bytea',
    next_dkim_public_key: 'null',
    checks: "'{}'::jsonb",
    checked_at: 'null::timestamptz',
    verified_at: 'null::timestamptz',
    failing_since: 'null::timestamptz',
    next_check_at: "'-infinity'::timestamptz",
    // Young domains are checked more often.
    created_at: 'least(created_at, current_timestamp)',
    uses_tracking_host: 'false',
    uses_return_path: 'false',
  },
  event_exports: {
    status: "'paused'",
    paused_reason: "'Imported without its secret access key. Enter the key and resume.'",
  },
  // The file contains what is in the bucket of the exporting installation.
  stored_files: { in_bucket: 'false' },
  webhooks: {
    status: "'paused'",
    paused_reason: "'Imported with a new signing secret. Rotate the secret, set it at your endpoint, and resume.'",
  },
}
