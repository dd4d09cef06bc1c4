import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const cli = join(import.meta.dirname, '../../dist/bin/cli.js')

/** Creates a directory for one test that the database user can access, even if the tests run as root. */
export function newFolder() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'waxwing-command-')))
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 20 }) }
}

type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }
export type Running = AsyncDisposable & {
  child: ChildProcess
  ended: Promise<Ended>
  /** Resolves as soon as standard output contains this text. */
  says(text: string): Promise<void>
}

export type Environment = Record<string, string>

/** Runs a command of the compiled service with only these settings. It is killed at the end of the test. */
export const startCommand = (words: string[], environment: Environment, options: { cwd: string }) =>
  watch(spawn(process.execPath, [cli, ...words], { ...options, env: { PATH: process.env.PATH, ...environment } }))

export function watch(child: ChildProcess, kill: () => unknown = () => child.kill('SIGKILL')): Running {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }))
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => stdout.includes(text) && resolve()
      child.stdout!.on('data', look)
      void ended.then(() => reject(new Error(`Exited without printing “${text}”: ${stdout}${stderr}`)))
      look()
    })
  return {
    child,
    ended,
    says,
    [Symbol.asyncDispose]: async () => {
      kill()
      await ended
    },
  }
}
