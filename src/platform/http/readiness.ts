import { Gauge, type Registry } from 'prom-client'
import { checkNodes } from '../db/cluster/nodes.ts'
import type { Db } from '../db/db.ts'
import { isMigrated, isWritable } from '../db/migrate.ts'
import { findFreeBytes } from '../runtime/disk.ts'
import { measure } from '../runtime/measure.ts'
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

type CheckResult = { check: 'database' | 'writable' | 'migrated' | 'disk'; problem?: string | undefined }

/** Returns the reasons why this process cannot do its work; none if it is ready. */
export async function findProblems(options: ReadinessOptions): Promise<string[]> {
  const problems = (await checkReadiness(options)).flatMap(({ problem }) => problem ?? [])
  return [...new Set(problems)]
}

/** Leaves out what cannot be checked because an earlier check failed. */
async function checkReadiness({ db, directories, freeMibMin }: ReadinessOptions): Promise<CheckResult[]> {
  const checkDisks = freeMibMin > 0 ? directories.map((directory) => checkDisk(directory, freeMibMin)) : []
  const [database, ...disks] = await Promise.all([checkDatabase(db), ...checkDisks])
  return [...database, ...disks]
}

async function checkDatabase(db: Db): Promise<CheckResult[]> {
  const check = async (): Promise<CheckResult[]> => {
    // First, because a standby may also be behind with the migrations.
    if (!(await isWritable(db))) return [{ check: 'writable', problem: 'The database is read-only.' }]
    const problem = (await isMigrated(db)) ? undefined : 'The database is not migrated yet.'
    return [{ check: 'writable' }, { check: 'migrated', problem }]
  }
  const results = await within(answerWithinMs, check()).catch(() => undefined)
  if (!results) return [{ check: 'database', problem: 'The database does not respond.' }]
  return [{ check: 'database' }, ...results]
}

async function checkDisk(directory: string, freeMibMin: number): Promise<CheckResult> {
  const free = await within(answerWithinMs, findFreeBytes(directory)).catch(() => undefined)
  if (free === undefined) return { check: 'disk', problem: 'The disk of DATA_DIR does not respond.' }
  if (free >= freeMibMin * MiB) return { check: 'disk' }
  return {
    check: 'disk',
    problem: `The disk of DATA_DIR is full: ${Math.floor(free / MiB)} MiB are free, at least ${freeMibMin} are required.`,
  }
}

/** Returns the database nodes that are down. The process stays ready for the organizations of the others. */
export async function findWarnings(db: Db): Promise<string[]> {
  const nodes = await within(answerWithinMs, checkNodes(db)).catch(() => undefined)
  if (!nodes) return ['The nodes of the database could not be checked.']
  return nodes.flatMap(({ name, isUp }) => (isUp ? [] : [`The database node ${name} is down.`]))
}

/** Registers a gauge with the result of each check, and one of the space left for the spool and the embedded database. */
export function measureReadiness(registry: Registry, options: ReadinessOptions): void {
  new Gauge({
    name: 'waxwing_ready',
    help: '1 for each check of GET /ready that succeeds, 0 for one that fails.',
    labelNames: ['check'],
    registers: [registry],
    async collect() {
      const results = await checkReadiness(options)
      this.reset()
      for (const { check, problem } of results.toSorted(failedLast)) this.set({ check }, problem ? 0 : 1)
    },
  })
  const { directories } = options
  const help = 'Free space for the spool and the embedded database.'
  const findFree = async () => Math.min(...(await Promise.all(directories.map(findFreeBytes))))
  if (directories.length > 0) measure(registry, 'waxwing_disk_free_bytes', help, findFree)
}

/** The check of the disk has a result for each directory. */
const failedLast = (a: CheckResult, b: CheckResult) => Number(!!a.problem) - Number(!!b.problem)
