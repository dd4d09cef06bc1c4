import { failingServersMax, findFailingServers } from '../../delivery/delivery.ts'
import type { Config } from '../../platform/config/config.ts'
import { missingPrivilege } from '../../platform/db/connect-faults.ts'
import { type Db, isConnectionFault } from '../../platform/db/db.ts'
import { isMigrated } from '../../platform/db/migrate.ts'
import { onlyValue } from '../../platform/db/rows.ts'
import { undecryptableWarning } from '../../platform/db/sealed.ts'
import { isMarkedWith } from '../../platform/db/secret-mark.ts'
import { isPooled } from '../../platform/db/session.ts'
import { withPublicAddress } from '../../platform/installation/public-address.ts'
import { openLog } from '../../platform/runtime/log.ts'
import { findAppSecret } from '../../platform/secrets/secrets.ts'
import { hostOf } from '../../platform/values/domain.ts'
import { countAllSealed } from '../sealed-tables.ts'
import { describePause, findPause } from '../sending-status/sending-pause.ts'
import { databaseOf, otherSecret } from './database.ts'
import { checkCluster } from './doctor-cluster.ts'
import { checkLinkHosts } from './doctor-link-hosts.ts'
import { bad, type Finding, good, note } from './finding.ts'

const clockDriftMaxSeconds = 5
const shownServersMax = 5
const list = new Intl.ListFormat('en', { type: 'conjunction' })

/**
 * Checks the database, and what only the database shows: the clock, paused sending and the secret. Returns the settings with the
 * public address that an operator has entered, if any.
 */
export async function* checkDatabase(config: Config): AsyncGenerator<Finding, Config> {
  const opened = await databaseOf(config, await openLog('silent'), { orRunning: true }).catch((error: Error) => error)
  if (opened instanceof Error) {
    yield bad('Database', opened.message)
    yield* secretFile(config)
    return config
  }
  try {
    const migrated = await isMigrated(opened.db).catch((error: unknown) => missingPrivilege(error) ?? false)
    const state = migrated ? 'migrated' : 'migrations pending until the next start'
    if (migrated instanceof Error) yield bad('Database', migrated.message)
    else yield good('Database', `${opened.description}, ${state}`)
    yield await clock(opened.db)
    yield* pooler(config, opened.db)
    const nodesDown = yield* checkCluster(opened.db)
    // The others need tables that pending migrations may create.
    if (migrated !== true) {
      yield* secretFile(config)
      return config
    }
    yield* readable('Sending', sending(opened.db), nodesDown)
    yield* readable('Secret', secret(config, opened.db), nodesDown)
    const used = await withPublicAddress(opened.db, config)
    yield* checkLinkHosts(opened.db, { host: hostOf(new URL(used.BASE_URL)), port: 443 })
    return used
  } finally {
    await opened.close()
  }
}

async function clock(db: Db): Promise<Finding> {
  const drift = await onlyValue(db<{ drift: number }>`
    select abs(extract(epoch from clock_timestamp()) - ${Date.now() / 1000})::float8 as drift`)
  if (drift <= clockDriftMaxSeconds) return good('Clock', 'in sync with the database')
  return bad('Clock', `differs from the database by ${Math.round(drift)} s: synchronize both with NTP`)
}

/** Sessions use DATABASE_DIRECT_URL if it is set, otherwise DATABASE_URL. */
async function* pooler({ DATABASE_DIRECT_URL: directUrl }: Config, db: Db): AsyncGenerator<Finding> {
  await using session = await db.openSession()
  if (!(await isPooled(session.client))) return
  yield directUrl === undefined
    ? note(
        'Pooler',
        'DATABASE_URL is the address of a connection pooler. Set DATABASE_DIRECT_URL to that of the database, so that processes are notified of new jobs instead of polling',
      )
    : bad('Pooler', 'DATABASE_DIRECT_URL is the address of a connection pooler: set it to that of the database')
}

/** Reports that the rest cannot be read, for example from a node that is down. */
async function* readable(
  check: string,
  findings: AsyncGenerator<Finding>,
  nodesDown: readonly string[],
): AsyncGenerator<Finding> {
  try {
    yield* findings
  } catch (error) {
    if (!isConnectionFault(error)) throw error
    const [reason] = (error as Error).message.split('\n')
    yield bad(
      check,
      nodesDown.length > 0
        ? `cannot be checked completely until ${list.format(nodesDown)} responds`
        : `cannot be checked, because a part of the database does not respond: ${reason}`,
    )
  }
}

async function* sending(db: Db): AsyncGenerator<Finding> {
  const pause = await findPause(db)
  if (pause) yield note('Sending', describePause(pause))
  const failing = await findFailingServers(db)
  for (const { name, host, failure } of failing.slice(0, shownServersMax))
    yield note('Sending', `the mail server ${name} (${host}) of an organization does not accept email: ${failure}`)
  const others = failing.length - shownServersMax
  if (others > 0)
    yield note(
      'Sending',
      `${others}${failing.length === failingServersMax ? ' or more' : ''} other mail servers do not accept email`,
    )
}

/** Compares APP_SECRET with the database, and tries it on everything that is encrypted. */
async function* secret(config: Config, db: Db): AsyncGenerator<Finding> {
  const current = await findSecret(config)
  if (current instanceof Error) yield bad('Secret', current.message)
  else if (current === undefined)
    yield bad(
      'Secret',
      `there is none in ${config.DATA_DIR}: set APP_SECRET or DATA_DIR as for the service, for example with --env-file FILE`,
    )
  else yield await currentSecret(config, db, current)
}

async function currentSecret(config: Config, db: Db, current: string): Promise<Finding> {
  const secrets = { current, previous: config.APP_SECRET_PREVIOUS }
  if (!(await isMarkedWith(db, secrets))) return bad('Secret', otherSecret)
  const counts = await countAllSealed(db, secrets)
  const lost = counts.find(({ undecryptable }) => undecryptable > 0)
  if (lost) return bad('Secret', undecryptableWarning(lost))
  const dependents = counts.flatMap(({ table: { words }, dependent }) =>
    dependent > 0 ? `${dependent} ${dependent === 1 ? words.row : `${words.row}s`}` : [],
  )
  if (dependents.length > 0)
    return note(
      'Secret',
      `APP_SECRET_PREVIOUS is still needed by ${list.format(dependents)}: keep it until this note disappears`,
    )
  const isLocal = config.DATABASE_URL !== undefined && config.APP_SECRET === undefined
  const localAdvice = 'from DATA_DIR; set APP_SECRET if several machines use this database'
  return good('Secret', isLocal ? localAdvice : 'matches the database')
}

/** Without a usable database, only a secret that cannot be used is worth a line. */
async function* secretFile(config: Config): AsyncGenerator<Finding> {
  const found = await findSecret(config)
  if (found instanceof Error) yield bad('Secret', found.message)
}

const findSecret = async (config: Config): Promise<string | undefined | Error> =>
  config.APP_SECRET ?? findAppSecret(config.DATA_DIR).catch((error: Error) => error)
