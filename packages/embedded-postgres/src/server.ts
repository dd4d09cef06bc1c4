import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { type Guarded, isAlive, settlesWithin, signal, spawnGuarded, waitUntilQuiet } from './process.ts'
import { isForLog, type ServerLog, socketName } from './settings.ts'

/** Crash recovery reads at most max_wal_size, which takes seconds; a slow disk may need longer. */
const readyWithinMs = 120_000
const retryWithinMs = 10_000
const pollMs = 10
const pauseMinMs = 100
const pauseMaxMs = 5000
const calmAfterMs = 60_000
const stopSteps = [
  // Fast shutdown: open transactions are rolled back, and a checkpoint avoids recovery at the next start.
  ['SIGINT', 5000],
  // Immediate shutdown: committed data is not lost, the next start performs recovery.
  ['SIGQUIT', 2000],
  ['SIGKILL', 2000],
] as const

export type Cluster = {
  home: Home
  directory: string
  binaries: Binaries
  settings: Record<string, string>
  log: ServerLog
}

/** Starts the server, and restarts it whenever it exits, for example after a full disk or a kill. */
export async function keepRunning(cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  let server = await launch(cluster, stopping.signal)

  const watch = async () => {
    let pause = pauseMinMs
    for (;;) {
      const since = Date.now()
      const how = await server.ended
      if (stopping.signal.aborted) return
      pause = Date.now() - since > calmAfterMs ? pauseMinMs : Math.min(pause * 2, pauseMaxMs)
      cluster.log.warn({ how, pause }, 'Embedded PostgreSQL exited; restarting')
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        server = await launch(cluster, stopping.signal)
        // `stop` was called while the server became ready, and has ended the previous one.
        if (stopping.signal.aborted) return await end(server)
      } catch (error) {
        cluster.log.warn({ err: error }, 'Embedded PostgreSQL did not start')
      }
    }
  }
  const watching = watch()

  const stop = async () => {
    stopping.abort()
    await end(server)
    await watching
  }
  return { stop }
}

async function launch(cluster: Cluster, stopping: AbortSignal): Promise<Guarded> {
  const started = Date.now()
  for (;;) {
    await waitUntilQuiet(cluster.home.directory)
    await removeStaleLocks(cluster)
    const server = spawnServer(cluster, stopping)
    const outcome = await readiness(server, cluster.directory, stopping)
    if (outcome === 'ready') {
      cluster.log.info({ directory: cluster.directory, ms: Date.now() - started }, 'Embedded PostgreSQL is ready')
      return server
    }
    await end(server)
    // A process we cannot see may still hold the shared memory or lock of the previous server for a short time.
    const isHeld = /postmaster\.pid|shared memory block/.test(server.errorLine())
    if (!isHeld || Date.now() - started > retryWithinMs) throw new Error(`postgres ${outcome}: ${server.errorLine()}`)
    await sleep(pauseMinMs)
  }
}

/**
 * A killed server leaves its process id in two lock files. If the system has reused the id, PostgreSQL mistakes that
 * process for a running server; an empty file is mistaken for a server that is starting. We own the directory and no
 * PostgreSQL process runs in it, so such files are removed. A file with an unused id is kept, because PostgreSQL uses
 * its other lines to check that the shared memory of the killed server is not in use.
 */
async function removeStaleLocks({ directory, home }: Cluster): Promise<void> {
  const pid = Math.abs(Number.parseInt((await readLockFile(directory))[0] ?? '', 10))
  if (Number.isNaN(pid) || isAlive(pid)) await rm(join(directory, 'postmaster.pid'), { force: true })
  const socket = join(home.socketDirectory, socketName)
  await rm(socket, { force: true })
  await rm(`${socket}.lock`, { force: true })
}

async function readLockFile(directory: string): Promise<string[]> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '')
  return text.split('\n')
}

function spawnServer({ home, directory, binaries, settings, log }: Cluster, stopping: AbortSignal): Guarded {
  const args = ['-D', directory]
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  let isRunning = false
  const onLine = (line: string) => {
    if (isRunning && !stopping.aborted && isForLog(line)) log.warn({ line }, 'PostgreSQL log')
    isRunning ||= line.includes('ready to accept connections')
  }
  return spawnGuarded(binaries.postgres, args, { cwd: home.directory, user: home.user, onLine })
}

/** The server writes its state to the last line of its lock file. */
async function readiness(server: Guarded, directory: string, stopping: AbortSignal): Promise<string> {
  const deadline = Date.now() + readyWithinMs
  let end: string | undefined
  void server.ended.then((how) => {
    end = how
  })
  while (Date.now() < deadline) {
    if (end !== undefined) return end
    if (stopping.aborted) return 'was stopped during startup'
    const lines = await readLockFile(directory)
    if (Number(lines[0]) === server.child.pid && lines[7]?.trim() === 'ready') return 'ready'
    await sleep(pollMs)
  }
  return `was not ready within ${readyWithinMs / 1000} seconds`
}

async function end({ child, ended }: Guarded): Promise<void> {
  for (const [name, withinMs] of stopSteps) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) break
    signal(child.pid, name)
    if (await settlesWithin(ended, withinMs)) break
  }
}
