import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The folder of `src/` that writes each table. Every folder may read every table. */
const owners: Record<string, string> = {
  account_mails: 'system-emails',
  api_keys: 'accounts',
  api_requests: 'api-requests',
  email_changes: 'accounts',
  invitations: 'accounts',
  organizations: 'accounts',
  password_reset_requests: 'accounts',
  password_resets: 'accounts',
  sessions: 'accounts',
  sign_ins: 'accounts',
  users: 'accounts',
  last_backup: 'backup',
  bulk_action_contacts: 'bulk-actions',
  bulk_actions: 'bulk-actions',
  broadcast_counts: 'broadcasts',
  broadcast_results: 'broadcasts',
  broadcast_parts: 'broadcasts',
  broadcast_recipients: 'broadcasts',
  broadcasts: 'broadcasts',
  contact_history: 'contacts',
  contacts: 'contacts',
  group_members: 'contacts',
  groups: 'contacts',
  import_changes: 'imports',
  import_chunks: 'imports',
  import_problems: 'imports',
  imports: 'imports',
  suppressions: 'suppressions',
  operator_copies: 'db',
  schema_migrations: 'db',
  secret_mark: 'db',
  event_counters: 'events',
  events: 'events',
  events_default: 'events',
  event_exports: 'event-exports',
  event_feed: 'events',
  events_kept: 'events',
  first_occurrences: 'events',
  flow_counter_values: 'events',
  flow_counters: 'events',
  pending_counts: 'events',
  flow_drafts: 'flows',
  flow_parts: 'flow-parts',
  flow_versions: 'flows',
  flows: 'flows',
  email_contents: 'email-contents',
  stored_file_chunks: 'email-contents',
  stored_files: 'email-contents',
  brands: 'brands',
  images: 'images',
  inbox: 'inbox',
  domains: 'domains',
  mail_servers: 'mail-servers',
  receiving_domains: 'receiving-sites',
  receiving_sites: 'receiving-sites',
  verified_domains: 'domains',
  tracking_hosts: 'domains',
  segments: 'segments',
  idempotency_keys: 'messages',
  messages: 'messages',
  notice_mails: 'system-emails',
  notices: 'notices',
  jobs: 'queue',
  lanes: 'queue',
  sending_limit_uses: 'sending-limits',
  sending_pause: 'sending-status',
  installation_settings: 'installation',
  provider_signatures: 'tracking',
  deliveries: 'webhooks',
  delivery_attempts: 'webhooks',
  webhooks: 'webhooks',
}

/** Statements that must change tables of several folders in one commit. */
const exceptions: Record<string, string[]> = {
  // An event updates the state of its message and contact.
  'events/recording/consequences.sql.ts': [
    'broadcast_counts',
    'broadcast_recipients',
    'contacts',
    'messages',
    'suppressions',
  ],
  // An unsubscription is stored with the contact and, as a suppression, with its address.
  'audience/contacts/subscriptions.sql.ts': ['suppressions'],
  // Undoing an import removes and restores contacts, and removes suppressions.
  'audience/imports/undo.sql.ts': ['contact_history', 'contacts', 'group_members', 'suppressions'],
  // Accepting a message creates its contact.
  'sending/messages/accept.sql.ts': ['contacts'],
}

const root = 'src'
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

function tablesWrittenBy(file: string): string[] {
  const text = withoutComments(readFileSync(join(root, file), 'utf8'))
  const names = [...text.matchAll(/\b(?:insert\s+into|delete\s+from|update)\s+(?:only\s+)?([a-z_]+)/g)].map(
    (match) => match[1]!,
  )
  return [...new Set(names)].filter((name) => name in owners)
}

test('only the owning folder writes a table; erasing writes all of them', () => {
  const wrong = files
    .filter((file) => !file.startsWith('privacy/'))
    .flatMap((file) =>
      tablesWrittenBy(file)
        .filter((table) => owners[table] !== file.split('/')[0] && !exceptions[file]?.includes(table))
        .map((table) => `${file} writes ${table}, which belongs to ${owners[table]}`),
    )
  expect(wrong).toEqual([])
})

test('the exceptions are still needed', () => {
  const unused = Object.entries(exceptions).flatMap(([file, tables]) =>
    tables.filter((table) => !tablesWrittenBy(file).includes(table)).map((table) => `${file}: ${table}`),
  )
  expect(unused).toEqual([])
})

test('every table has an owner', () => {
  const migrations = join(root, 'db/migrations')
  const created = readdirSync(migrations).flatMap((file) => [
    ...readFileSync(join(migrations, file), 'utf8').matchAll(/^create table (?:if not exists )?([a-z_]+)/gm),
  ])
  expect(created.map((match) => match[1]).filter((table) => !(table! in owners))).toEqual([])
})
