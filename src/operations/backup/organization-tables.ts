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
 * one still sends. Applied at export and at import, because the file may have been edited.
 */
export const exportedValues: Record<string, Record<string, string>> = {
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
  // Their DNS records point to the exporting installation until they are found to point to the importing one.
  domains: { uses_tracking_host: 'false', uses_return_path: 'false' },
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
