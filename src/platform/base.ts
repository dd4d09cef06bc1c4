import type { Registry } from 'prom-client'
import type { Config } from './config/config.ts'
import { webhookAuthoritiesOf } from './config/setting-files.ts'
import type { Tuning } from './config/tuning.ts'
import { type Db, isConnectionFault, isQueryCanceled } from './db/db.ts'
import { Formats } from './db/formats.ts'
import type { Hints } from './queue/hints.ts'
import { FailureLog } from './runtime/failure-log.ts'
import type { Log } from './runtime/log.ts'
import { StageRegistry } from './runtime/stage-registry.ts'
import type { AppSecrets } from './secrets/secrets.ts'
import { createTokens } from './secrets/tokens.ts'
import { createTaskPool } from './tasks/create-pool.ts'
import type { TaskChild } from './tasks/task-child.ts'
import { dayMs, newForDays } from './values/durations.ts'
import { timeOfId } from './values/ids.ts'

export type BaseOptions = {
  config: Config
  limits: Tuning
  secrets: AppSecrets
  db: Db
  log: Log
  hints: Hints
  metrics: Registry
  /** Idle task processes of stopped services in the same process, as in tests. */
  spareTaskProcesses?: TaskChild[] | undefined
  /** The start of links. It may change. */
  baseUrl: () => string
}

export type Base = ReturnType<typeof createBase>

/** Organizations are not new if strangers cannot register any, or as many as they like. */
const isNewFor = ({ SIGNUP: signup, SIGNUPS_PER_HOUR: perHour }: Config) =>
  signup === 'open' && perHour > 0 ? (id: string) => Date.now() - timeOfId(id) < newForDays * dayMs : undefined

/** What every area builds on, in the service and in its sending processes. */
export function createBase({ spareTaskProcesses: spare, ...options }: BaseOptions) {
  const { config, limits, secrets, db, log, hints, metrics } = options
  const stageRegistry = new StageRegistry({ isNew: isNewFor(config) })
  stageRegistry.measure(metrics)
  const tasks = createTaskPool({
    processes: limits.taskProcesses,
    spare,
    registry: metrics,
    stages: stageRegistry,
    log,
  })
  return {
    ...options,
    stageRegistry,
    formats: new Formats(db),
    failures: new FailureLog({ log, isOutage: (error) => isConnectionFault(error) && !isQueryCanceled(error) }),
    tasks,
    tokens: createTokens({ current: secrets.current, previous: secrets.previous ? [secrets.previous] : [] }),
    /** How addresses that users typed are called. */
    egress: {
      allowPrivate: config.EGRESS_ALLOW_PRIVATE,
      proxyUrl: config.EGRESS_PROXY_URL,
      ca: webhookAuthoritiesOf(config),
    },
    /** After everything that uses it. */
    close: async () => {
      tasks.stop()
      await hints.stop()
    },
  }
}
