import { lookup } from 'node:dns/promises'
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs'
import { openRelay } from '@waxwing/smtp-client'
import { type Config, readConfig, readEnvironment, readUnknownSettings } from '../config/config.ts'
import { checkNodes } from '../db/cluster-nodes.ts'
import { missingPrivilege } from '../db/connect-faults.ts'
import type { Db } from '../db/db.ts'
import { findDistributedTables, hasCitus } from '../db/distribute.ts'
import { readDistributionPlan } from '../db/distribution-plan.ts'
import { isMigrated } from '../db/migrate.ts'
import { checkReplica } from '../db/replica-check.ts'
import { isPooled } from '../db/session.ts'
import { readSmtpUrl } from '../mail/smtp-url.ts'
import { openLog } from '../runtime/log.ts'
import { liveProblems } from '../sending-status/going-live.ts'
import { hostOf } from '../values/domain.ts'
import { privateTargetWarning } from '../webhooks/private-targets.ts'
import { checkSettings } from './check-settings.ts'
import { databaseOf, readSecrets } from './database.ts'

/** A note is not a problem yet, but may become one. */
type Finding = { what: string; ok: boolean; says: string; note?: boolean }

const freeBytesMin = 1024 ** 3
const clockDriftMaxSeconds = 5
/** Some relays delay the greeting for a few seconds. */
const answerWithinMs = 10_000

/** Checks the environment of the service and prints what to do about each problem. Returns 1 if there are problems. */
export async function doctor(): Promise<number> {
  const config = readConfig(readEnvironment())
  let wrong = 0
  let notes = 0
  for await (const { what, ok, says, note } of findings(config)) {
    if (!ok) wrong++
    if (note) notes++
    process.stdout.write(`${ok ? (note ? 'note' : 'ok  ') : 'BAD '} ${what.padEnd(10)} ${says}\n`)
  }
  const right = notes === 0 ? 'No problems found.' : 'No problems found. Read the notes before going live.'
  process.stdout.write(`\n${wrong === 0 ? right : `${wrong} ${wrong === 1 ? 'problem' : 'problems'} found.`}\n`)
  return wrong === 0 ? 0 : 1
}

async function* findings(config: Config): AsyncGenerator<Finding> {
  yield nodeVersion()
  yield disk(config.DATA_DIR)
  yield settings(config)
  for (const says of readUnknownSettings()) yield { what: 'Settings', ok: true, says, note: true }
  yield* database(config)
  yield await relay(config.SMTP_URL)
  yield await baseUrl(config.BASE_URL)
  yield* goingLive(config)
  yield* privateTargets(config)
  yield await appSecret(config)
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > 20 || (major === 20 && minor >= 19)
  return { what: 'Node', ok, says: ok ? process.version : `${process.version}: install Node.js 20.19 or newer` }
}

function disk(folder: string): Finding {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free in ${folder}`
    return bavail * bsize >= freeBytesMin
      ? { what: 'Disk', ok: true, says: free }
      : { what: 'Disk', ok: false, says: `${free}: free up disk space` }
  } catch (error) {
    return { what: 'Disk', ok: false, says: `${(error as Error).message}: set DATA_DIR to a writable directory` }
  }
}

async function* database(config: Config): AsyncGenerator<Finding> {
  const opened = await databaseOf(config, await openLog('silent'), { orRunning: true }).catch((error: Error) => error)
  if (opened instanceof Error) {
    yield { what: 'Database', ok: false, says: opened.message }
    return
  }
  try {
    const migrated = await isMigrated(opened.db).catch((error: unknown) => missingPrivilege(error) ?? false)
    yield migrated instanceof Error
      ? { what: 'Database', ok: false, says: migrated.message }
      : {
          what: 'Database',
          ok: true,
          says: `${opened.description}, ${migrated ? 'migrated' : 'migrations pending until the next start'}`,
        }
    const [row] = await opened.db<{
      drift: number
    }>`select abs(extract(epoch from clock_timestamp()) - ${Date.now() / 1000})::float8 as drift`
    const ok = row!.drift <= clockDriftMaxSeconds
    yield {
      what: 'Clock',
      ok,
      says: ok
        ? 'in sync with the database'
        : `differs from the database by ${Math.round(row!.drift)} s: synchronize both with NTP`,
    }
    yield* pooler(config, opened.db)
    yield* cluster(opened.db)
    if (opened.replica) yield await replica(config, opened.db, opened.replica)
  } finally {
    await opened.close()
  }
}

/** Sessions use DATABASE_DIRECT_URL if it is set, otherwise DATABASE_URL. */
async function* pooler({ DATABASE_DIRECT_URL: directUrl }: Config, db: Db): AsyncGenerator<Finding> {
  await using session = await db.openSession()
  if (!(await isPooled(session.client))) return
  yield directUrl === undefined
    ? {
        what: 'Pooler',
        ok: true,
        note: true,
        says: 'DATABASE_URL is the address of a connection pooler. Set DATABASE_DIRECT_URL to that of the database, so that processes are notified of new jobs instead of polling',
      }
    : {
        what: 'Pooler',
        ok: false,
        says: 'DATABASE_DIRECT_URL is the address of a connection pooler: set it to that of the database',
      }
}

/** The nodes of a distributed database. */
async function* cluster(db: Db): AsyncGenerator<Finding> {
  if (!(await hasCitus(db))) return
  const done = await findDistributedTables(db)
  if (done.size === 0) return
  const nodes = await checkNodes(db)
  const down = nodes.filter(({ isUp }) => !isUp)
  for (const { name } of down)
    yield { what: 'Cluster', ok: false, says: `the node ${name} is down: its organizations cannot be served` }
  if (down.length === 0) yield { what: 'Cluster', ok: true, says: `${nodes.length} nodes respond` }
  const { tables } = await readDistributionPlan(db)
  const left = tables.filter(({ name, placement }) => placement !== 'local' && !done.has(name)).map(({ name }) => name)
  if (left.length > 0)
    yield { what: 'Cluster', ok: false, says: `not distributed: ${left.join(', ')}. Run \`waxwing distribute\`` }
}

async function replica({ DATABASE_REPLICA_LAG_SECONDS: seconds }: Config, db: Db, replica: Db): Promise<Finding> {
  const what = 'Replica'
  const state = await checkReplica(db, replica, seconds * 1_000)
  switch (state.kind) {
    case 'current':
      return { what, ok: true, says: `has the data of the database after ${Math.ceil(state.afterMs)} ms` }
    case 'behind':
      return {
        what,
        ok: false,
        says: `is ${state.bytes} bytes behind after ${seconds} s, so the primary answers instead: check its load and its network`,
      }
    case 'promoted':
      return {
        what,
        ok: false,
        says: 'DATABASE_REPLICA_URL is not the address of a replica: set it to a streaming replica of the database',
      }
    case 'unreachable':
      return { what, ok: false, says: `${state.reason}: check DATABASE_REPLICA_URL and that the replica is running` }
  }
}

/** Checks the files and URLs in the settings, as the service does at startup. */
const settings = (config: Config) => checked('Settings', 'valid', () => checkSettings(config))

function checked(what: string, says: string, look: () => void): Finding {
  try {
    look()
    return { what, ok: true, says }
  } catch (error) {
    return { what, ok: false, says: (error as Error).message }
  }
}

/** Authenticates like the service, because a relay that responds may still reject every email. */
async function relay(url: string | undefined): Promise<Finding> {
  if (!url) return { what: 'Relay', ok: true, says: 'not configured: emails are kept in the built-in inbox' }
  const read = checked('Relay', '', () => readSmtpUrl(url))
  if (!read.ok) return read
  const limits = { connectMs: answerWithinMs, greetingMs: answerWithinMs, commandMs: answerWithinMs }
  const transport = openRelay(url, { limits })
  const state = await transport.check()
  await transport.close()
  return state.kind === 'up'
    ? { what: 'Relay', ok: true, says: `${new URL(url).host} accepts email` }
    : { what: 'Relay', ok: false, says: `${state.reason}: check SMTP_URL and the firewall` }
}

async function baseUrl(url: string): Promise<Finding> {
  const hostname = hostOf(new URL(url))
  const known = await lookup(hostname).catch(() => undefined)
  return known
    ? { what: 'BASE_URL', ok: true, says: `${url} (${known.address})` }
    : { what: 'BASE_URL', ok: false, says: `${hostname} does not resolve: links in emails would not work` }
}

/** Skipped if the settings are invalid, which is reported separately. */
function* goingLive(config: Config): Generator<Finding> {
  if (config.SMTP_URL === undefined || !settings(config).ok) return
  const problems = liveProblems(config)
  if (problems.length === 0) yield { what: 'Going live', ok: true, says: 'links and sender can be used' }
  for (const { severity, message: says } of problems) {
    const note = severity === 'hint'
    yield { what: 'Going live', ok: note, says, note }
  }
}

/** Only a note even if others can create webhooks, because a private network may need it. */
function* privateTargets(config: Config): Generator<Finding> {
  const warning = privateTargetWarning(config)
  if (warning) yield { what: 'Webhooks', ok: true, says: warning.message, note: true }
}

async function appSecret(config: Config): Promise<Finding> {
  const shared = config.DATABASE_URL !== undefined && config.APP_SECRET === undefined
  const says = shared ? 'from DATA_DIR; set APP_SECRET if several machines use this database' : 'set'
  const problem = await readSecrets(config).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { what: 'Secret', ok: problem === undefined, says: problem ?? says }
}
