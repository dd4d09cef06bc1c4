import { lchown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { type Connection, EmbeddedFailure, explain } from './failure.ts'
import { type Home, openHome } from './home.ts'
import { type Lock, takeLock } from './lock.ts'
import { settlesWithin, spawnGuarded, waitUntilQuiet } from './process.ts'
import { type Cluster, keepRunning } from './server.ts'
import { embeddedSettings, login, quotedPath, type ServerLog } from './settings.ts'

/** It takes 0.7 s here. */
const initdbWithinMs = 120_000

export type Embedded = {
  connection: Connection
  /** Where the cluster really is. */
  directory: string
  /** What a person should know about it, for the banner. */
  note: string | null
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL that lives in DATA_DIR, making it at the first start, and keeps it running until `stop`, or
 * until this process ends in whatever way. Throws EmbeddedFailure, whose message is a sentence for a person.
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
    `Another Waxwing (process ${pid}) is running on ${dataDir}: stop it first, or set DATA_DIR to another directory.`,
    { runningAt },
  )
}

/** Also waits for an initdb that was left behind and still writes. */
async function removeUnfinished(home: Home): Promise<void> {
  await waitUntilQuiet(home.directory)
  for (const name of await readdir(home.directory)) {
    if (name.startsWith('new-')) await rm(join(home.directory, name), { recursive: true, force: true })
  }
}

/** Whole or not at all: the cluster is made under another name, which it loses in the last step. */
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
  if (how !== 'ended with code 0') throw new Error(`initdb ${how}: ${initdb.complaint()}`)
  await rename(unfinished, directory)
  await syncDirectory(home.directory)
  log.info({ directory, ms: Date.now() - started }, 'embedded PostgreSQL initialised')
}

async function isInitialised({ directory, binaries }: Cluster): Promise<boolean> {
  const text = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null)
  const version = text?.trim()
  if (version === binaries.majorVersion) return true
  if (version !== undefined) {
    throw new EmbeddedFailure(
      `The database in ${directory} was made by PostgreSQL ${version}, and this Waxwing comes with ${binaries.majorVersion}: move its data over with the Waxwing that made it, or set DATA_DIR to another directory.`,
    )
  }
  if (await stat(directory).catch(() => null)) {
    throw new EmbeddedFailure(
      `${directory} is there but holds no database: restore it from a backup, or move it away to begin anew.`,
    )
  }
  return false
}

/** A rename is on the disk only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}
