import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The folder of `src/` that writes each table. Every folder may read every table. */
const owners: Record<string, string> = {
  account_mails: 'sending/system-emails',
  api_keys: 'accounts/people',
  api_requests: 'accounts/api-requests',
  email_changes: 'accounts/people',
  invitations: 'accounts/people',
  organizations: 'accounts/people',
  password_reset_requests: 'accounts/people',
  password_resets: 'accounts/people',
  sessions: 'accounts/people',
  sign_ins: 'accounts/people',
  users: 'accounts/people',
  last_backup: 'operations/backup',
  bulk_action_contacts: 'audience/bulk-actions',
  bulk_actions: 'audience/bulk-actions',
  broadcast_counts: 'broadcasts',
  broadcast_results: 'broadcasts',
  broadcast_parts: 'broadcasts',
  broadcast_recipients: 'broadcasts',
  broadcasts: 'broadcasts',
  contact_history: 'audience/contacts',
  contacts: 'audience/contacts',
  group_members: 'audience/contacts',
  groups: 'audience/contacts',
  import_changes: 'audience/imports',
  import_chunks: 'audience/imports',
  import_problems: 'audience/imports',
  imports: 'audience/imports',
  suppressions: 'audience/suppressions',
  operator_copies: 'platform/db',
  schema_migrations: 'platform/db',
  secret_mark: 'platform/db',
  event_counters: 'events/recording',
  events: 'events/recording',
  events_default: 'events/recording',
  event_exports: 'events/exports',
  event_feed: 'events/recording',
  events_kept: 'events/recording',
  first_occurrences: 'events/recording',
  flow_counter_values: 'events/recording',
  flow_counters: 'events/recording',
  pending_counts: 'events/recording',
  flow_drafts: 'content/flows',
  flow_parts: 'content/parts',
  flow_versions: 'content/flows',
  flows: 'content/flows',
  email_contents: 'sending/attachments',
  stored_file_chunks: 'content/files',
  stored_files: 'content/files',
  brands: 'content/brands',
  images: 'content/images',
  inbox: 'sending/inbox',
  domains: 'delivery/domains',
  mail_servers: 'delivery/mail-servers',
  receiving_domains: 'delivery/receiving-sites',
  receiving_sites: 'delivery/receiving-sites',
  verified_domains: 'delivery/domains',
  tracking_hosts: 'delivery/domains',
  segments: 'audience/segments',
  idempotency_keys: 'sending',
  messages: 'sending',
  notice_mails: 'sending/system-emails',
  notices: 'operations/notices',
  jobs: 'platform/queue',
  lanes: 'platform/queue',
  sending_limit_uses: 'delivery/limits',
  sending_pause: 'operations/sending-status',
  installation_settings: 'platform/installation',
  provider_signatures: 'engagement/bounces',
  deliveries: 'events/webhooks',
  delivery_attempts: 'events/webhooks',
  webhooks: 'events/webhooks',
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
  'sending/acceptance/accept.sql.ts': ['contacts'],
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
    .filter((file) => !file.startsWith('operations/privacy/'))
    .flatMap((file) =>
      tablesWrittenBy(file)
        .filter((table) => !file.startsWith(`${owners[table]}/`) && !exceptions[file]?.includes(table))
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
  const migrations = join(root, 'platform/db/migrations')
  const created = readdirSync(migrations).flatMap((file) => [
    ...readFileSync(join(migrations, file), 'utf8').matchAll(/^create table (?:if not exists )?([a-z_]+)/gm),
  ])
  expect(created.map((match) => match[1]).filter((table) => !(table! in owners))).toEqual([])
})
