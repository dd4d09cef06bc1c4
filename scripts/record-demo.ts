import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'
import { exportOrganization } from '../src/operations/backup/export-organization.ts'
import { noProgress } from '../src/operations/backup/progress.ts'
import { createSchema, finishSchema } from '../src/operations/backup/schema.ts'
import { databaseOf } from '../src/operations/commands/database.ts'
import { findDemo } from '../src/operations/demo/demo.sql.ts'
import { demoAccount } from '../src/operations/demo/demo.ts'
import {
  type DemoOwner,
  insertRecording,
  openRecording,
  type RecordingHeader,
  recordingPath,
} from '../src/operations/demo/recording.ts'
import { type Config, readSettings, readSources } from '../src/platform/config/config.ts'
import { version } from '../src/platform/config/package-root.ts'
import type { Db } from '../src/platform/db/db.ts'
import { readMigrations } from '../src/platform/db/migrate.ts'
import { openLog } from '../src/platform/runtime/log.ts'
import { minuteMs } from '../src/platform/values/durations.ts'

const help = `Usage: npm run record-demo [-- --from-database]

Writes the recording that \`waxwing start --demo\` imports.

Without options, the present recording gets the schema of this version: it is imported into a temporary database with
the schema that it has, the newer migrations are applied, and it is exported again.

With --from-database, the demo in the configured database (DATABASE_URL or DATA_DIR) becomes the recording: start it
with --demo, change it in the web app, stop it, and record it.
`

/** Accounts, and what is counted again after the import. */
const leftOut = new Set([
  ...['organizations', 'users', 'api_keys', 'invitations', 'idempotency_keys', 'notices'],
  ...['first_occurrences', 'event_counters', 'flow_counters', 'flow_counter_values', 'pending_counts'],
])
/** Values that are not recorded. Signatures are made with a secret that nobody has. */
const replaced: Record<string, (row: Record<string, unknown>) => object> = {
  // An export cancels what is scheduled. The demo schedules its drafts.
  broadcasts: (row) => (row.status === 'cancelled' ? { status: 'draft', starts_at: null } : {}),
  deliveries: () => ({ body: null }),
  delivery_attempts: () => ({ signature: '', standard_signature: null }),
}

const config = readSettings(readSources())
const folder = mkdtempSync(join(tmpdir(), 'waxwing-demo-'))
try {
  if (readArguments().fromDatabase) await recordDatabase()
  else await renewRecording()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function readArguments() {
  try {
    const { values } = parseArgs({ options: { help: { type: 'boolean' }, 'from-database': { type: 'boolean' } } })
    if (!values.help) return { fromDatabase: values['from-database'] }
    process.stdout.write(help)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`)
    process.exit(2)
  }
}

async function recordDatabase(): Promise<void> {
  await using database = await open(config)
  const owner = await findDemo(database.db, demoAccount)
  if (!owner) throw new Error('There is no demo in this database. Start Waxwing with --demo.')
  const step = 15 * minuteMs
  await record(database.db, owner, new Date(Math.ceil(Date.now() / step) * step).toISOString())
}

async function renewRecording(): Promise<void> {
  await using database = await open({ ...config, DATA_DIR: folder, DATABASE_URL: undefined })
  const { header, lines } = await openRecording()
  const [organizationId, userId] = [header.organization_id, header.user_id]
  const known = readMigrations()
  const manifest = { migrations: known.filter(({ number }) => header.migrations.includes(number)) }
  {
    await using session = await database.db.openSession()
    const { client } = session
    await client.query('begin')
    await createSchema(client, manifest, known)
    await client.query('insert into organizations (id, name) values ($1, $2)', [
      organizationId,
      demoAccount.organizationName,
    ])
    await client.query(
      `insert into users (id, organization_id, email, email_key, password_hash, role) values ($1, $2, '', '', '', 'owner')`,
      [userId, organizationId],
    )
    const secrets = { current: 'of a temporary database', previous: undefined }
    await insertRecording(client, lines, { organizationId, secrets })
    await finishSchema(client, manifest, known)
    await client.query('commit')
  }
  await record(database.db, { organizationId, userId }, header.ends_at)
}

async function open(config: Config) {
  const database = await databaseOf(config, await openLog('warn'), { mayCreate: true })
  return { db: database.db, [Symbol.asyncDispose]: () => database.close() }
}

type Line = Record<string, unknown>

async function record(db: Db, { organizationId, userId }: DemoOwner, endsAt: string): Promise<void> {
  const path = join(folder, 'export')
  await exportOrganization(path, { db, organizationId, waxwing: version, progress: noProgress })
  const [start, ...rest] = readFileSync(path, 'utf8').trimEnd().split('\n')
  const recorded: object[] = []
  let header: Line | undefined
  let [table, rows] = ['', 0]
  for (const line of rest.slice(0, -1).map((each) => JSON.parse(each) as Line)) {
    if (Array.isArray(line.columns)) {
      table = String(line.table)
      header = line
      continue
    }
    if (leftOut.has(table)) continue
    // Tables without rows are left out.
    if (header) recorded.push(header)
    header = undefined
    recorded.push({ ...line, ...replaced[table]?.(line) })
    rows++
  }
  const first: RecordingHeader = { ...JSON.parse(start!), user_id: userId, ends_at: endsAt }
  const text = [first, ...recorded, { rows }].map((line) => `${JSON.stringify(line)}\n`).join('')
  const bytes = brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  })
  writeFileSync(recordingPath, bytes)
  process.stdout.write(`Recorded ${rows} rows in ${bytes.length} bytes: ${recordingPath}\n`)
}
