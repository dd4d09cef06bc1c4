import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { EmbeddedFailure } from './failure.ts'

const tailLinesMax = 20
const lastWordsMs = 500
const askAfterMs = 3000
const forceAfterMs = 6000
const giveUpAfterMs = 10_000
const pollMs = 20

/** Null means the user of this process. */
export type User = { uid: number; gid: number } | null

/** Child processes do not inherit our environment, since LANG, PGOPTIONS or LD_LIBRARY_PATH could break them. */
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }

/**
 * The shell replaces itself with the program. A watcher process reads from a pipe that only this process keeps open:
 * when this process dies, even by SIGKILL, the read ends and the watcher stops the program, first with SIGINT and
 * within a second with SIGQUIT. A line on the pipe means that the program has already exited, so that its process id
 * must not be used anymore. The watcher is a grandchild, because PostgreSQL treats the exit of an unknown child as a
 * crash.
 */
const guarded = `
( ( trap '' HUP INT TERM
    read -r ended <&3 && exit
    kill -INT $$
    for tenth in 1 2 3 4; do sleep 0.1; kill -0 $$ || exit; done
    kill -QUIT $$
  ) >/dev/null 2>&1 & )
exec "$0" "$@" 3<&-`

export type Guarded = {
  child: ChildProcess
  /** Resolves with a description of the exit. Never rejects. */
  ended: Promise<string>
  /** The line of its recent output that contains the error. */
  errorLine(): string
}

export function spawnGuarded(
  program: string,
  args: string[],
  options: { cwd: string; user: User; onLine?: (line: string) => void },
): Guarded {
  const child = spawn('/bin/sh', ['-c', guarded, program, ...args], {
    cwd: options.cwd,
    env: environment,
    // A separate session, so that Ctrl-C in the terminal does not stop the database before our last transaction.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    ...(options.user ?? {}),
  })
  const lines: string[] = []
  createInterface({ input: child.stderr! }).on('line', (line) => {
    lines.push(line)
    if (lines.length > tailLinesMax) lines.shift()
    options.onLine?.(line)
  })
  guardUntilEnd(child)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => {
      const how = signal ? `ended by ${signal}` : `ended with code ${code}`
      // The last output may still be in the pipe, but a surviving child of the program must not delay us.
      const timer = setTimeout(resolve, lastWordsMs, how)
      child.once('close', () => {
        clearTimeout(timer)
        resolve(how)
      })
    })
  })
  const errorLine = () => lines.find((line) => /FATAL|PANIC|error|could not/.test(line)) ?? lines.join(' ')
  return { child, ended, errorLine }
}

function guardUntilEnd(child: ChildProcess): void {
  const pipe = child.stdio[3] as Duplex
  const isRunning = () => child.exitCode === null && child.signalCode === null
  pipe.on('error', () => {}) // the watcher exited first
  // Without its watcher the program could outlive this process, so it is stopped; the caller starts it again.
  pipe.once('close', () => {
    if (isRunning()) child.kill('SIGQUIT')
  })
  pipe.resume()
  child.once('exit', () => pipe.end('ended\n'))
}

/** Returns true if the command succeeds for this user. Used to check actual permissions. */
export function succeeds(user: User, program: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: environment, timeout: giveUpAfterMs, ...(user ?? {}) }
    execFile(program, args, options, (error) => resolve(error === null))
  })
}

/**
 * Waits until no PostgreSQL process runs below a directory. The caller owns the directory, so such a process was left
 * by a service that died and is stopping. A process that does not stop in time (its watcher was killed as well) is
 * killed.
 */
export async function waitUntilQuiet(directory: string): Promise<void> {
  const started = Date.now()
  for (;;) {
    const left = await databaseProcessesIn(directory)
    if (left.length === 0) return
    const waited = Date.now() - started
    if (waited > giveUpAfterMs) {
      throw new EmbeddedFailure(
        `An earlier PostgreSQL (process ${left.join(', ')}) still uses ${directory}. Stop it first.`,
      )
    }
    if (waited > askAfterMs) {
      for (const pid of left) signal(pid, waited > forceAfterMs ? 'SIGKILL' : 'SIGQUIT')
    }
    await sleep(waited > askAfterMs ? pollMs * 10 : pollMs)
  }
}

/**
 * The working directory of every PostgreSQL process is its data directory. Read synchronously, which takes a few
 * microseconds per process of the system, compared with a hundred through the thread pool.
 */
async function databaseProcessesIn(directory: string): Promise<number[]> {
  if (process.platform !== 'linux') return await serversByCommand(directory)
  const isThere = (pid: string) => {
    try {
      if (!/\/(postgres|initdb)( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/exe`))) return false
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${directory}/`)
    } catch {
      return false // exited in the meantime, or belongs to another user
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isThere(name))
    .map(Number)
}

/** Without /proc, finds the server by the directory on its command line. */
function serversByCommand(directory: string): Promise<number[]> {
  return new Promise((resolve) => {
    execFile('/bin/ps', ['-axo', 'pid=,command='], (_error, output) => {
      const ours = output.split('\n').filter((line) => /\/postgres -D /.test(line) && line.includes(` ${directory}/`))
      resolve(ours.map((line) => Number.parseInt(line, 10)))
    })
  })
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already exited.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const settled = await Promise.race([promise.then(() => true), late])
  timer.abort()
  return settled
}
