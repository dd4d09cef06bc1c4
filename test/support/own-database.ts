import { type Child, homeOf, isDatabase, processesIn, type Site, type Started, startChild } from './embedded-child.ts'

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
      for (const pid of database.pids()) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It has exited with its parent.
        }
      }
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
