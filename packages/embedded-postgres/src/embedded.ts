import { lchown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { type Connection, EmbeddedFailure, explain } from './failure.ts'
import { type Home, openHome } from './home.ts'
import { type Lock, takeLock } from './lock.ts'
import { settlesWithin, spawnGuarded, waitUntilQuiet } from './process.ts'
import { type Cluster, keepRunning } from './server.ts'
import { embeddedSettings, login, quotedPath, type ServerLog } from './settings.ts'

/** Usually takes less than a second. */
const initdbWithinMs = 120_000

export type Embedded = {
  connection: Connection
  /** The actual directory of the cluster. */
  directory: string
  /** A note for the operator, if the database is not in DATA_DIR. */
  note: string | null
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL in `dataDir`, which is created at the first start, and keeps it running until `stop` is called
 * or this process exits in any way. Throws `EmbeddedFailure` if it cannot run.
 */
export async function startEmbedded(options: {
  dataDir: string
  log: ServerLog
  settings?: Record<string, string>
}): Promise<Embedded> {
  let lock: Lock | undefined
  try {
    const home = await openHome(options.dataDir)
    const connection = { host: home.socketDirectory, ...login }
    lock = await takeLock(home.socketDirectory)
    if (lock.kind === 'taken') throw inUse(options.dataDir, lock.byPid, connection)
    const { release } = lock

    await removeUnfinished(home)
    const binaries = await findBinaries(home)
    const directory = join(home.directory, 'cluster')
    const sockets = { unix_socket_directories: quotedPath(home.socketDirectory), port: String(login.port) }
    const settings = { ...embeddedSettings, ...options.settings, ...sockets }
    const cluster = { home, directory, binaries, settings, log: options.log }
    await initialise(cluster)
    const server = await keepRunning(cluster)
    const stop = async () => {
      await server.stop()
      await release()
    }
    return { connection, directory, note: home.note, stop }
  } catch (error) {
    if (lock?.kind === 'held') await lock.release()
    throw explain(error, options.dataDir)
  }
}

function inUse(dataDir: string, pid: number, runningAt: Connection): EmbeddedFailure {
  return new EmbeddedFailure(
    `Another Waxwing (process ${pid}) is running on ${dataDir}. Stop it first, or set DATA_DIR to another directory.`,
    { runningAt },
  )
}

/** Also waits for an orphaned initdb that is still writing. */
async function removeUnfinished(home: Home): Promise<void> {
  await waitUntilQuiet(home.directory)
  for (const name of await readdir(home.directory)) {
    if (name.startsWith('new-')) await rm(join(home.directory, name), { recursive: true, force: true })
  }
}

/** Creates the cluster under a temporary name and renames it in the last step, so that it is never incomplete. */
async function initialise(cluster: Cluster): Promise<void> {
  if (await isInitialised(cluster)) return
  const { home, directory, binaries, log } = cluster
  const started = Date.now()
  const unfinished = await mkdtemp(join(home.directory, 'new-'))
  if (home.user) await lchown(unfinished, home.user.uid, home.user.gid)
  const access = ['-U', login.user, '--auth-local=trust', '--auth-host=reject']
  const args = ['-D', unfinished, ...access, '-E', 'UTF8', '--locale=C', '--data-checksums']
  const initdb = spawnGuarded(binaries.initdb, [...args, '--no-instructions'], { cwd: home.directory, user: home.user })
  if (!(await settlesWithin(initdb.ended, initdbWithinMs))) initdb.child.kill('SIGKILL')
  const how = await initdb.ended
  if (how !== 'ended with code 0') throw new Error(`initdb ${how}: ${initdb.errorLine()}`)
  await rename(unfinished, directory)
  await syncDirectory(home.directory)
  log.info({ directory, ms: Date.now() - started }, 'Embedded PostgreSQL initialized')
}

async function isInitialised({ directory, binaries }: Cluster): Promise<boolean> {
  const text = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null)
  const version = text?.trim()
  if (version === binaries.majorVersion) return true
  if (version !== undefined) {
    throw new EmbeddedFailure(
      `The database in ${directory} was created by PostgreSQL ${version}, but this version of Waxwing includes ${binaries.majorVersion}. Dump it with the previous version of Waxwing and restore it, or set DATA_DIR to another directory.`,
    )
  }
  if (await stat(directory).catch(() => null)) {
    throw new EmbeddedFailure(
      `${directory} exists but does not contain a database. Restore it from a backup, or move it away to start with an empty database.`,
    )
  }
  return false
}

/** A rename is durable only after fsync of the directory. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}
