import { findBinaries } from './binaries.ts'
import { clusterSettings, createCluster, findClusterVersion, finishUpgrade, openOwnHome } from './cluster.ts'
import { type Connection, EmbeddedFailure, explain } from './failure.ts'
import { type Cluster, keepRunning } from './server.ts'
import { login, type ServerLog } from './settings.ts'

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
  let release = async () => {}
  try {
    const own = await openOwnHome(options.dataDir)
    release = own.release
    const { home } = own
    await finishUpgrade(home)
    const binaries = await findBinaries(home)
    const settings = clusterSettings(home, options.settings)
    const cluster = { home, directory: own.directory, binaries, settings, log: options.log }
    if (!(await isInitialised(cluster))) await createCluster(cluster)
    const server = await keepRunning(cluster)
    const stop = async () => {
      await server.stop()
      await release()
    }
    const connection = { host: home.socketDirectory, ...login }
    return { connection, directory: cluster.directory, note: home.note, stop }
  } catch (error) {
    await release()
    throw explain(error, options.dataDir)
  }
}

async function isInitialised({ directory, binaries }: Cluster): Promise<boolean> {
  const version = await findClusterVersion(directory)
  if (version === undefined || version === binaries.majorVersion) return version !== undefined
  if (Number(version) < Number(binaries.majorVersion))
    throw new EmbeddedFailure(
      `The database in ${directory} was created by PostgreSQL ${version}, but this version of Waxwing includes ${binaries.majorVersion}. Start Waxwing to upgrade the database.`,
      { olderVersion: version },
    )
  throw new EmbeddedFailure(
    `The database in ${directory} was created by PostgreSQL ${version}, but this version of Waxwing includes ${binaries.majorVersion}. Run a newer version of Waxwing, or set DATA_DIR to another directory.`,
  )
}
