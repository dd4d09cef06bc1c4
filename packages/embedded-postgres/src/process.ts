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

/** Null: as whoever runs this process. */
export type User = { uid: number; gid: number } | null

/** No variable of ours reaches the children: a strange LANG, PGOPTIONS or LD_LIBRARY_PATH must not matter. */
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }

/**
 * The shell becomes the program, and a small watcher beside it reads from a pipe that only we hold open. When we die,
 * even by -9, the read ends and the watcher stops the program: first politely, then, still within the second, hard.
 * A line on the pipe means that the program has ended already, so that its process id must not be used any more.
 * The watcher is a grandchild, since PostgreSQL takes the death of a child it does not know for a crash.
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
  /** Resolves, never rejects, with how it ended. */
  ended: Promise<string>
  /** The line among its last ones that says what is wrong. */
  complaint(): string
}

export function spawnGuarded(
  program: string,
  args: string[],
  options: { cwd: string; user: User; onLine?: (line: string) => void },
): Guarded {
  const child = spawn('/bin/sh', ['-c', guarded, program, ...args], {
    cwd: options.cwd,
    env: environment,
    // Its own session: a Ctrl-C in the terminal is for us, and the database must outlive our last transaction.
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
      // Its last words may still be in the pipe; but a child of its own that lives on must not keep us waiting.
      const timer = setTimeout(resolve, lastWordsMs, how)
      child.once('close', () => {
        clearTimeout(timer)
        resolve(how)
      })
    })
  })
  const complaint = () => lines.find((line) => /FATAL|PANIC|error|could not/.test(line)) ?? lines.join(' ')
  return { child, ended, complaint }
}

function guardUntilEnd(child: ChildProcess): void {
  const pipe = child.stdio[3] as Duplex
  const isRunning = () => child.exitCode === null && child.signalCode === null
  pipe.on('error', () => {}) // the watcher went first: nobody to tell
  // Without its watcher the program could outlive us, so it has to end, too. Whoever needs it starts it again.
  pipe.once('close', () => {
    if (isRunning()) child.kill('SIGQUIT')
  })
  pipe.resume()
  child.once('exit', () => pipe.end('ended\n'))
}

/** True when the command succeeds for this user. Used to ask the system what that user may do, instead of guessing. */
export function succeeds(user: User, program: string, ...args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: environment, timeout: giveUpAfterMs, ...(user ?? {}) }
    execFile(program, args, options, (error) => resolve(error === null))
  })
}

/**
 * Waits until no PostgreSQL works below a directory. The caller owns the directory, so what still runs there was left
 * by a service that died, and is on its way out; whatever stays too long (its watcher was killed too) is helped along.
 */
export async function waitUntilQuiet(directory: string): Promise<void> {
  const started = Date.now()
  for (;;) {
    const left = await databaseProcessesIn(directory)
    if (left.length === 0) return
    const waited = Date.now() - started
    if (waited > giveUpAfterMs) {
      throw new EmbeddedFailure(
        `An earlier PostgreSQL (process ${left.join(', ')}) still uses ${directory}: end it first.`,
      )
    }
    if (waited > askAfterMs) {
      for (const pid of left) signal(pid, waited > forceAfterMs ? 'SIGKILL' : 'SIGQUIT')
    }
    await sleep(waited > askAfterMs ? pollMs * 10 : pollMs)
  }
}

/**
 * Every PostgreSQL process, the server and its children, works in its data directory. Read synchronously: a few
 * microseconds for each process of the system, where going through the thread pool costs a hundred.
 */
async function databaseProcessesIn(directory: string): Promise<number[]> {
  if (process.platform !== 'linux') return await serversByCommand(directory)
  const isThere = (pid: string) => {
    try {
      if (!/\/(postgres|initdb)( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/exe`))) return false
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${directory}/`)
    } catch {
      return false // it ended meanwhile, or belongs to somebody else
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isThere(name))
    .map(Number)
}

/** Where there is no /proc: the server itself, by the directory on its command line. */
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
    // It ended meanwhile, which is what we want.
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
