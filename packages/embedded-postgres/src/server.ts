import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { type Guarded, isAlive, settlesWithin, signal, spawnGuarded, waitUntilQuiet } from './process.ts'
import { isForLog, type ServerLog, socketName } from './settings.ts'

/** Recovery after a crash reads at most max_wal_size. That took seconds here; a slow disk gets its time. */
const readyWithinMs = 120_000
const retryWithinMs = 10_000
const pollMs = 10
const pauseMinMs = 100
const pauseMaxMs = 5000
const calmAfterMs = 60_000
const stopSteps = [
  // Fast: open transactions are rolled back, and a checkpoint spares the next start the recovery.
  ['SIGINT', 5000],
  // Immediate: nothing acknowledged is lost, the next start recovers.
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

/** Starts the server, and starts it again whenever it ends by itself: a full disk or a killed process is no end. */
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
      cluster.log.warn({ how, pause }, 'embedded PostgreSQL ended by itself and will be started again')
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        server = await launch(cluster, stopping.signal)
        // Told to stop in the very moment in which it became ready: whoever told so has ended the one before.
        if (stopping.signal.aborted) return await end(server)
      } catch (error) {
        cluster.log.warn({ error: String(error) }, 'embedded PostgreSQL did not start')
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
      cluster.log.info({ directory: cluster.directory, ms: Date.now() - started }, 'embedded PostgreSQL is ready')
      return server
    }
    await end(server)
    // Where we cannot see it, something may still hold the memory or the lock of the server before. It never takes long.
    const isHeld = /postmaster\.pid|shared memory block/.test(server.complaint())
    if (!isHeld || Date.now() - started > retryWithinMs) throw new Error(`postgres ${outcome}: ${server.complaint()}`)
    await sleep(pauseMinMs)
  }
}

/**
 * A server that was killed leaves its process id in two lock files. The system may have given that id to another
 * program, which PostgreSQL would take for a running server; and a kill in the wrong moment leaves the file empty, which
 * it takes for one that is just starting. We own the directory and saw that no PostgreSQL works in it, so such a file
 * goes. One with a dead id stays: by its other lines PostgreSQL checks that nobody uses the dead server's memory.
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
    if (isRunning && !stopping.aborted && isForLog(line)) log.warn({ line }, 'PostgreSQL says')
    isRunning ||= line.includes('ready to accept connections')
  }
  return spawnGuarded(binaries.postgres, args, { cwd: home.directory, user: home.user, onLine })
}

/** The server keeps its state in the last line of its lock file. */
async function readiness(server: Guarded, directory: string, stopping: AbortSignal): Promise<string> {
  const deadline = Date.now() + readyWithinMs
  let end: string | undefined
  void server.ended.then((how) => {
    end = how
  })
  while (Date.now() < deadline) {
    if (end !== undefined) return end
    if (stopping.aborted) return 'was stopped while it started'
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
