import { spawnSync } from 'node:child_process'
import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Binaries, findBinaries } from './embedded-binaries.ts'
import { type Connection, EmbeddedFailure, explain } from './embedded-failure.ts'
import { type Home, openHome } from './embedded-home.ts'
import { type Lock, takeLock } from './embedded-lock.ts'
import { type Guarded, isAlive, signal, spawnGuarded, waitUntilQuiet } from './embedded-process.ts'
import { embeddedSettings, isForLog, quotedPath } from './embedded-settings.ts'

const port = 5432 // only names the socket file
const user = 'postgres'
const database = 'postgres'

/** Recovery after a crash reads at most max_wal_size, which took seconds; a slow disk gets its time. */
const readyWithinMs = 120_000
const lockRetryMs = 10_000
const pollMs = 10
const restartPauseMinMs = 100
const restartPauseMaxMs = 5000
const stopFastMs = 5000
const stopImmediateMs = 2000

export type Embedded = {
  connection: Connection
  /** Where the cluster really is. */
  directory: string
  /** What a person should know about it, for the banner. */
  note: string | null
  stop(): Promise<void>
}

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void }
type Cluster = { home: Home; directory: string; binaries: Binaries; settings: Record<string, string>; log: Log }

/**
 * Starts the PostgreSQL that lives in DATA_DIR, making it at the first start, and keeps it running until `stop`, or
 * until this process ends in whatever way. Throws EmbeddedFailure, whose message is a sentence for a person.
 */
export async function startEmbedded(options: {
  dataDir: string
  log: Log
  settings?: Record<string, string>
}): Promise<Embedded> {
  let lock: Lock | undefined
  try {
    const home = await openHome(options.dataDir)
    const connection = { host: home.socketDirectory, port, user, database }
    lock = await takeLock(home.socketDirectory)
    if (lock.kind === 'taken') {
      throw new EmbeddedFailure(
        `Another Waxwing (process ${lock.byPid}) is running on ${options.dataDir}: stop it first, or set DATA_DIR to another directory.`,
        { runningAt: connection },
      )
    }
    const { release } = lock

    await removeUnfinished(home)
    const binaries = await findBinaries(home)
    const directory = join(home.directory, 'cluster')
    const settings = {
      ...embeddedSettings,
      unix_socket_directories: quotedPath(home.socketDirectory),
      ...options.settings,
    }
    const cluster = { home, directory, binaries, settings, log: options.log }
    await initialise(cluster)
    const stopServer = await keepRunning(cluster)
    const stop = async () => {
      await stopServer()
      await release()
    }
    return { connection, directory, note: home.note, stop }
  } catch (error) {
    if (lock?.kind === 'held') await lock.release()
    throw explain(error, options.dataDir)
  }
}

/** Also waits for an initdb that was left behind and still writes. */
async function removeUnfinished(home: Home): Promise<void> {
  await waitUntilQuiet(home.directory)
  for (const name of await readdir(home.directory)) {
    if (name.startsWith('new-')) await rm(join(home.directory, name), { recursive: true, force: true })
  }
}

/** Whole or not at all: the cluster is made under another name, which it loses in the last step. */
async function initialise({ home, directory, binaries, log }: Cluster): Promise<void> {
  const version = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version?.trim() === binaries.majorVersion) return
  if (version !== null) {
    throw new EmbeddedFailure(
      `The database in ${directory} was made by PostgreSQL ${version.trim()}, and this Waxwing comes with ${binaries.majorVersion}: start it with the Waxwing that made it and move the data over, or set DATA_DIR to another directory.`,
    )
  }
  if (await stat(directory).catch(() => null)) {
    throw new EmbeddedFailure(
      `${directory} exists but is no database: move it away to begin anew, or restore it from a backup.`,
    )
  }

  const started = Date.now()
  const unfinished = await mkdtemp(join(home.directory, 'new-'))
  if (home.user) await chown(unfinished, home.user.uid, home.user.gid)
  const args = ['-D', unfinished, '-U', user, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--data-checksums']
  const initdb = spawnGuarded(binaries.initdb, [...args, '--no-instructions'], { cwd: home.directory, user: home.user })
  const end = await initdb.ended
  if (end !== 'ended with code 0') throw new Error(`initdb ${end}: ${initdb.tail()}`)
  await rename(unfinished, directory)
  await syncDirectory(home.directory)
  log.info({ directory, ms: Date.now() - started }, 'embedded PostgreSQL initialised')
}

/** A rename is on the disk only when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}

/** Starts the server and starts it again when it ends by itself. Returns how to stop it for good. */
async function keepRunning(cluster: Cluster): Promise<() => Promise<void>> {
  let stopping = false
  const aborted = new AbortController()
  let server = await launch(cluster, () => stopping)

  const watch = async () => {
    for (let pause = restartPauseMinMs; ; pause = Math.min(pause * 2, restartPauseMaxMs)) {
      const how = await server.ended
      if (stopping) return
      cluster.log.warn({ how, pause }, 'embedded PostgreSQL ended by itself and is started again')
      await sleep(pause, undefined, { signal: aborted.signal }).catch(() => {})
      if (stopping) return
      try {
        server = await launch(cluster, () => stopping)
        pause = restartPauseMinMs
        if (stopping) await end(server)
      } catch (error) {
        cluster.log.warn({ error: String(error) }, 'embedded PostgreSQL did not start')
      }
    }
  }
  const watching = watch()

  return async () => {
    stopping = true
    aborted.abort()
    await end(server)
    await watching
  }
}

/** Fast: open transactions are rolled back, and a checkpoint spares the next start the recovery. */
async function end(server: Guarded): Promise<void> {
  const { pid } = server.child
  if (pid === undefined) return
  const steps = [
    ['SIGINT', stopFastMs],
    ['SIGQUIT', stopImmediateMs],
    ['SIGKILL', stopImmediateMs],
  ] as const
  for (const [name, withinMs] of steps) {
    if (server.child.exitCode !== null || server.child.signalCode !== null) break
    signal(pid, name)
    if (await settlesWithin(server.ended, withinMs)) break
  }
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const settled = await Promise.race([promise.then(() => true), late])
  timer.abort()
  return settled
}

async function launch(cluster: Cluster, isStopping: () => boolean): Promise<Guarded> {
  const started = Date.now()
  for (;;) {
    await waitUntilQuiet(cluster.home.directory)
    await disownRecycledPid(cluster.directory)
    const server = spawnServer(cluster, isStopping)
    const outcome = await readiness(server, cluster.directory)
    if (outcome === 'ready') {
      cluster.log.info({ directory: cluster.directory, ms: Date.now() - started }, 'embedded PostgreSQL is ready')
      return server
    }
    await end(server)
    // Another process holds on to the memory or the lock file of the server that died. It never takes long.
    const isHeld = /postmaster\.pid|shared memory block|lock file/.test(server.tail())
    if (!isHeld || Date.now() - started > lockRetryMs) throw new Error(`postgres ${outcome}: ${server.tail()}`)
    await sleep(restartPauseMinMs)
  }
}

function spawnServer({ home, directory, binaries, settings, log }: Cluster, isStopping: () => boolean): Guarded {
  const args = ['-D', directory, '-p', String(port)]
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  let isReady = false
  const onLine = (line: string) => {
    isReady ||= line.includes('ready to accept connections')
    if (isReady && !isStopping() && isForLog(line) && !line.includes('ready to accept'))
      log.warn({ line }, 'PostgreSQL says')
  }
  return spawnGuarded(binaries.postgres, args, { cwd: home.directory, user: home.user, onLine })
}

/** The server writes its state into the last line of its lock file. */
async function readiness(server: Guarded, directory: string): Promise<string> {
  const deadline = Date.now() + readyWithinMs
  let end: string | undefined
  void server.ended.then((how) => {
    end = how
  })
  while (Date.now() < deadline) {
    if (end !== undefined) return end
    const [pid, , , , , , , state] = await readLockFile(directory)
    if (Number(pid) === server.child.pid && state?.trim() === 'ready') return 'ready'
    await sleep(pollMs)
  }
  return `was not ready within ${readyWithinMs / 1000} seconds`
}

/**
 * A server that was killed leaves its process id behind, and the system may have given that id to another program,
 * which PostgreSQL would take for itself and refuse to start. No PostgreSQL works in this directory, we looked; so we
 * put in the id of a process that has certainly ended. The file stays, since its other lines let PostgreSQL find the
 * shared memory of the dead server and make sure that nobody uses it any more.
 */
async function disownRecycledPid(directory: string): Promise<void> {
  const [pid, ...rest] = await readLockFile(directory)
  if (pid === undefined || !isAlive(Math.abs(Number(pid)))) return
  const dead = spawnSync('/bin/sh', ['-c', ':']).pid
  await writeFile(join(directory, 'postmaster.pid'), [dead, ...rest].join('\n'))
}

async function readLockFile(directory: string): Promise<string[]> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '')
  return text === '' ? [] : text.split('\n')
}
