import { lchown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddedFailure } from './failure.ts'
import { type Home, openHome } from './home.ts'
import { takeLock } from './lock.ts'
import { settlesWithin, spawnGuarded, waitUntilQuiet } from './process.ts'
import type { Cluster } from './server.ts'
import { embeddedSettings, login, quotedPath } from './settings.ts'

/** Usually takes less than a second. */
const initdbWithinMs = 120_000

export type OwnHome = { home: Home; directory: string; release(): Promise<void> }

/**
 * Opens the home of the database and makes this process its only owner. Throws `EmbeddedFailure` if another process
 * owns it.
 */
export async function openOwnHome(dataDir: string): Promise<OwnHome> {
  const home = await openHome(dataDir)
  const directory = join(home.directory, 'cluster')
  const lock = await takeLock(home.socketDirectory)
  if (lock.kind === 'taken')
    throw new EmbeddedFailure(
      `Another Waxwing (process ${lock.byPid}) is running on ${dataDir}. Stop it first, or set DATA_DIR to another directory.`,
      { running: { connection: { host: home.socketDirectory, ...login }, directory } },
    )
  try {
    await removeUnfinished(home)
  } catch (error) {
    await lock.release()
    throw error
  }
  return { home, directory, release: lock.release }
}

export const clusterSettings = (home: Home, settings: Record<string, string> = {}) => ({
  ...embeddedSettings,
  ...settings,
  unix_socket_directories: quotedPath(home.socketDirectory),
  port: String(login.port),
})

/** Also waits for an orphaned initdb that is still writing. */
async function removeUnfinished(home: Home): Promise<void> {
  await waitUntilQuiet(home.directory)
  for (const name of await readdir(home.directory)) {
    if (name.startsWith('new-')) await rm(join(home.directory, name), { recursive: true, force: true })
  }
}

/**
 * An upgraded cluster is named `cluster-next` when it is complete, and then replaces the old one in two renames. If the
 * process was killed between them, this is the second one; if it was killed before the first one, the old cluster is
 * still in use and the upgrade is repeated.
 */
export async function finishUpgrade(home: Home): Promise<void> {
  const [next, current] = [join(home.directory, 'cluster-next'), join(home.directory, 'cluster')]
  if (!(await stat(next).catch(() => null))) return
  if (await stat(current).catch(() => null)) await rm(next, { recursive: true, force: true })
  else await rename(next, current)
  await syncDirectory(home.directory)
}

/**
 * Returns whether `dataDir` contains a database, and creates nothing. Also returns true if this user may not look:
 * opening the database reports that.
 */
export async function hasEmbedded(dataDir: string): Promise<boolean> {
  for (const name of ['cluster', 'cluster-next']) {
    const code = await stat(join(dataDir, 'postgres', name)).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    )
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return true
  }
  return false
}

/** Returns the major version, or undefined if there is no cluster. Throws `EmbeddedFailure` for other contents. */
export async function findClusterVersion(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null)
  if (text !== null) return text.trim()
  if (await stat(directory).catch(() => null))
    throw new EmbeddedFailure(
      `${directory} exists but does not contain a database. Restore it from a backup, or move it away to start with an empty database.`,
    )
  return undefined
}

/** Creates the cluster under a temporary name and renames it in the last step, so that it is never incomplete. */
export async function createCluster(cluster: Cluster): Promise<void> {
  const { home, directory, log } = cluster
  const started = Date.now()
  const unfinished = await initdb(cluster)
  await rename(unfinished, directory)
  await syncDirectory(home.directory)
  log.info({ directory, ms: Date.now() - started }, 'Embedded PostgreSQL initialized')
}

/** Returns the directory of a new cluster, which the next start removes. */
export async function initdb({ home, binaries }: Pick<Cluster, 'home' | 'binaries'>): Promise<string> {
  const unfinished = await mkdtemp(join(home.directory, 'new-'))
  if (home.user) await lchown(unfinished, home.user.uid, home.user.gid)
  const access = ['-U', login.user, '--auth-local=trust', '--auth-host=reject']
  const args = ['-D', unfinished, ...access, '-E', 'UTF8', '--locale=C', '--data-checksums']
  const running = spawnGuarded(binaries.initdb, [...args, '--no-instructions'], {
    cwd: home.directory,
    user: home.user,
  })
  if (!(await settlesWithin(running.ended, initdbWithinMs))) running.child.kill('SIGKILL')
  const how = await running.ended
  if (how !== 'ended with code 0') throw new Error(`initdb ${how}: ${running.errorLine()}`)
  return unfinished
}

/** A rename is durable only after fsync of the directory. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}
