import { Gauge, type Registry } from 'prom-client'
import { checkNodes } from '../db/cluster-nodes.ts'
import type { Db } from '../db/db.ts'
import { isMigrated, isWritable } from '../db/migrate.ts'
import { findFreeBytes } from '../runtime/disk.ts'
import { within } from '../runtime/within.ts'

const MiB = 1024 * 1024
const answerWithinMs = 2_000

export type ReadinessOptions = {
  db: Db
  /** Directories that this process writes to: the spool, and the embedded database. */
  directories: readonly string[]
  /** In mebibytes. 0 disables the check. */
  freeMibMin: number
}

/** Returns the reasons why this process cannot do its work; none if it is ready. */
export async function findProblems({ db, directories, freeMibMin }: ReadinessOptions): Promise<string[]> {
  const checks = [
    findDatabaseProblem(db),
    ...(freeMibMin > 0 ? directories.map((directory) => findDiskProblem(directory, freeMibMin)) : []),
  ]
  const problems = (await Promise.all(checks)).filter((problem) => problem !== undefined)
  return [...new Set(problems)]
}

async function findDatabaseProblem(db: Db): Promise<string | undefined> {
  const check = async () => {
    // First, because a standby may also be behind with the migrations.
    if (!(await isWritable(db))) return 'The database is read-only.'
    return (await isMigrated(db)) ? 'ready' : 'The database is not migrated yet.'
  }
  const state = await within(answerWithinMs, check()).catch(() => undefined)
  return state === 'ready' ? undefined : (state ?? 'The database does not respond.')
}

/**
 * Returns the nodes of a distributed database that are down. The process is ready nevertheless: it serves the organizations
 * of the other nodes.
 */
export async function findWarnings(db: Db): Promise<string[]> {
  if (!db.isDistributed) return []
  const nodes = await within(answerWithinMs, checkNodes(db)).catch(() => undefined)
  if (!nodes) return ['The nodes of the database could not be checked.']
  return nodes.flatMap(({ name, isUp }) => (isUp ? [] : [`The database node ${name} is down.`]))
}

async function findDiskProblem(directory: string, freeMibMin: number): Promise<string | undefined> {
  const free = await within(answerWithinMs, findFreeBytes(directory)).catch(() => undefined)
  if (free === undefined) return 'The disk of DATA_DIR does not respond.'
  if (free >= freeMibMin * MiB) return undefined
  return `The disk of DATA_DIR is full: ${Math.floor(free / MiB)} MiB are free, and DISK_FREE_MIN_MB requires ${freeMibMin}.`
}

/** Registers a gauge of the space left for the spool and the embedded database. */
export function measureDisk(registry: Registry, directories: readonly string[]): void {
  if (directories.length === 0) return
  new Gauge({
    name: 'waxwing_disk_free_bytes',
    help: 'Free space for the spool and the embedded database.',
    registers: [registry],
    async collect() {
      const free = await within(answerWithinMs, Promise.all(directories.map(findFreeBytes))).catch(() => undefined)
      this.set(free ? Math.min(...free) : Number.NaN)
    },
  })
}
