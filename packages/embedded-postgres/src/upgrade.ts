import { lstat, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { clusterSettings, findClusterVersion, finishUpgrade, initdb, openOwnHome, syncDirectory } from './cluster.ts'
import { type Connection, EmbeddedFailure, explain } from './failure.ts'
import { type Cluster, keepRunning } from './server.ts'
import { login, type ServerLog } from './settings.ts'

/** WAL, temporary files and system catalogs of the new cluster. */
const spareBytes = 512 * 1024 * 1024
const mebibyte = 1024 * 1024

export type UpgradeOptions = {
  dataDir: string
  log: ServerLog
  /** Writes everything in the old database to a file. */
  dump: (connection: Connection, file: string) => Promise<void>
  /** Loads the file into the new, empty database. */
  load: (connection: Connection, file: string) => Promise<void>
  /** Free space for the new cluster and the file. The free space of the disk if undefined. */
  freeBytes?: number
}

export type Upgraded = {
  from: string
  to: string
  /** The directory of the old cluster, which is kept. */
  kept: string
}

/**
 * Moves the database in `dataDir` to the major version of the installed binaries: it is dumped with the binaries of its
 * own version and loaded into a new cluster, which then takes its place. Returns undefined if there is nothing to
 * upgrade. If anything fails, the old cluster is unchanged. Throws `EmbeddedFailure`, for example if the binaries of
 * the old version are not installed or the disk is too small.
 */
export async function upgradeEmbedded(options: UpgradeOptions): Promise<Upgraded | undefined> {
  let release = async () => {}
  try {
    const own = await openOwnHome(options.dataDir)
    release = own.release
    const { home, directory } = own
    await finishUpgrade(home)
    const binaries = await findBinaries(home)
    const from = await findClusterVersion(directory)
    if (from === undefined || Number(from) >= Number(binaries.majorVersion)) return undefined
    await checkSpace(home.directory, directory, options.freeBytes)
    const older = await findBinaries(home, from)
    const common = { home, settings: clusterSettings(home), log: options.log }
    const connection = { host: home.socketDirectory, ...login }
    // The next start removes it, if this process is killed.
    const file = join(home.directory, 'new-upgrade.backup')
    options.log.info({ from, to: binaries.majorVersion }, 'Upgrading the embedded PostgreSQL')
    await whileRunning({ ...common, directory, binaries: older }, () => options.dump(connection, file))
    const created = await initdb({ home, binaries })
    await whileRunning({ ...common, directory: created, binaries }, () => options.load(connection, file))
    await rm(file, { force: true })
    const kept = await replace(home.directory, created, from)
    options.log.info({ from, to: binaries.majorVersion, kept }, 'Upgraded the embedded PostgreSQL')
    return { from, to: binaries.majorVersion, kept }
  } catch (error) {
    throw explain(error, options.dataDir)
  } finally {
    await release()
  }
}

async function whileRunning(cluster: Cluster, work: () => Promise<void>): Promise<void> {
  const server = await keepRunning(cluster)
  try {
    await work()
  } finally {
    await server.stop()
  }
}

/** The dump is compressed, and the new cluster is not larger than the old one. */
async function checkSpace(home: string, cluster: string, freeBytes: number | undefined): Promise<void> {
  const { bavail, bsize } = await statfs(home)
  const free = freeBytes ?? bavail * bsize
  const needed = 2 * (await sizeOf(cluster)) + spareBytes
  if (free >= needed) return
  const [neededMiB, freeMiB] = [Math.ceil(needed / mebibyte), Math.floor(free / mebibyte)]
  throw new EmbeddedFailure(
    `Upgrading the database to a new version of PostgreSQL needs ${neededMiB} MiB of free space in ${home}, but only ${freeMiB} MiB are free. Free up space, or move DATA_DIR to a larger disk. Nothing was changed.`,
  )
}

async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isDirectory()) return found.size
  let bytes = 0
  for (const name of await readdir(path)) bytes += await sizeOf(join(path, name))
  return bytes
}

/** See `finishUpgrade` for a process that is killed here. */
async function replace(home: string, created: string, oldVersion: string): Promise<string> {
  const [next, current] = [join(home, 'cluster-next'), join(home, 'cluster')]
  const kept = join(home, `cluster-${oldVersion}`)
  const isTaken = await stat(kept).catch(() => null)
  const keptAs = isTaken ? `${kept}-${Date.now()}` : kept
  await rename(created, next)
  await syncDirectory(home)
  await rename(current, keptAs)
  await rename(next, current)
  await syncDirectory(home)
  return keptAs
}
