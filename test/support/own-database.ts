import { afterAll, beforeAll } from 'vitest'
import {
  type Child,
  homeOf,
  isDatabase,
  makeSite,
  processesIn,
  type Site,
  type Started,
  startChild,
} from './embedded-child.ts'
import { until } from './until.ts'

/** Creates a site for the tests of a file. At the end, all processes that were started from it are killed. */
export function useSite(): () => Site {
  let site: Site
  beforeAll(() => {
    site = makeSite()
  })
  afterAll(async () => {
    killAll(processesIn(site.directory))
    await until('everything to end', () => processesIn(site.directory).length === 0)
    site.remove()
  })
  return () => site
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has exited, for example with its parent.
    }
  }
}

/** A database server for one test, which may kill it. */
export type OwnDatabase = {
  started: () => Started
  url: () => string
  pids: () => number[]
  /** Kills all its processes. */
  kill(): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startOwnDatabase(site: Site): Promise<OwnDatabase> {
  const dataDir = site.newDataDir()
  let child: Child
  let started: Started
  const database: OwnDatabase = {
    started: () => started,
    url: () => {
      const { host, port, user, database: name } = started.connection
      return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
    },
    pids: () => processesIn(homeOf(started)).filter(isDatabase),
    kill: async () => {
      killAll(database.pids())
      await child.kill()
    },
    stop: () => child.stop(),
    start: async () => {
      child = startChild(site.installation, dataDir)
      started = await child.ready
    },
  }
  await database.start()
  return database
}
