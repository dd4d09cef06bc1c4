import type { Role } from './area.ts'
import { createBase } from './base.ts'
import type { Config } from './config/config.ts'
import { type Tuning, tuning } from './config/tuning.ts'
import { createBoundedRead } from './db/bounded-read.ts'
import { createBoundedWork } from './db/bounded-work.ts'
import type { Database } from './db/connect.ts'
import type { Db } from './db/db.ts'
import { measurePool } from './db/pool-metrics.ts'
import { isMarked } from './db/secret-mark.ts'
import { createDatabaseStages } from './db/stages.ts'
import { createMetrics } from './http/metrics.ts'
import { PublicAddress } from './installation/public-address.ts'
import { bucketOf } from './object-storage/bucket.ts'
import { Hints } from './queue/hints.ts'
import type { Log } from './runtime/log.ts'
import { RateLimit } from './runtime/rate-limit.ts'
import type { AppSecrets } from './secrets/secrets.ts'
import type { TaskChild } from './tasks/task-child.ts'

/** Lists of contacts that take longer are read in another way. */
const firstTimeoutMs = 700
/** Counts of contacts that take longer are estimated; the second applies if the exact number is requested. */
const quickTimeoutMs = 200
const countTimeoutMs = 5_000
/** Slices of an audience that is composed are smaller if they take longer. */
const audienceTimeoutMs = 1_000

export type PlatformOptions = {
  roles: readonly Role[]
  config: Config
  secrets: AppSecrets
  db: Db
  log: Log
  /** Idle task processes of stopped services in the same process, as in tests. */
  spareTaskProcesses?: TaskChild[] | undefined
  /** Where sending processes find the database. Without it, the service sends broadcasts itself. */
  databaseAddress?: Database['address'] | undefined
  /** Other limits than the usual ones, in tests. */
  tuning?: Partial<Tuning> | undefined
}

export type Platform = ReturnType<typeof createPlatform>

/** What every area of the service builds on. */
export function createPlatform({ tuning: others, ...options }: PlatformOptions) {
  const { config, secrets, db } = options
  const publicAddress = new PublicAddress(db, config)
  const base = createBase({
    ...options,
    limits: { ...tuning, ...others },
    hints: new Hints(db),
    metrics: createMetrics(),
    baseUrl: () => publicAddress.url,
  })
  const { limits, metrics } = base
  measurePool(db, metrics)
  const stages = createDatabaseStages(base.stageRegistry, config.DATABASE_CONNECTIONS)
  const readWithin = (timeoutMs: number) => createBoundedRead(db, stages.queries, { timeoutMs })
  return {
    ...base,
    roles: options.roles,
    databaseAddress: options.databaseAddress,
    publicAddress,
    read: createBoundedRead(db, stages.queries),
    readFirst: readWithin(firstTimeoutMs),
    readQuickly: readWithin(quickTimeoutMs),
    readCounts: readWithin(countTimeoutMs),
    readAudiences: createBoundedRead(db, stages.audienceCounts, { timeoutMs: audienceTimeoutMs }),
    readMetrics: createBoundedRead(db, stages.metrics),
    work: createBoundedWork(db, stages.work),
    bucket: bucketOf(config),
    pageLimit: new RateLimit({
      perSecond: limits.pageRequestsPerSecond,
      burst: limits.pageRequestsPerSecond * 10,
      message: 'Too many requests from your address. Wait a moment and try again.',
    }),
    // Of two processes with exchanged secrets, as in a rolling rotation, only the newer one encrypts secrets again.
    isRotating: async () => secrets.previous !== undefined && (await isMarked(db, secrets)),
  }
}
