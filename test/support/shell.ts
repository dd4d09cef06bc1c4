import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** A shell in which blocks run one after the other, as in a terminal: variables and background jobs stay. */
export function openShell(folder: string, environment: Record<string, string>) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...environment }
  const shell = spawn('bash', ['--norc', '-eo', 'pipefail'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const exited = once(shell, 'exit')
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk))
  let count = 0

  return {
    /** Runs a block and returns a function that returns its output so far. Throws if a command fails. */
    async run(code: string): Promise<() => string> {
      const start = output.length
      const name = `block-${++count}`
      writeFileSync(join(folder, name), code)
      shell.stdin.write(`. ./${name}\necho "${name} is done" >&2\n`)
      await until(`${name} to finish`, () => {
        if (shell.exitCode !== null) throw new Error(`The shell exited:\n${code}\n\n${output.slice(start)}`)
        return output.includes(`${name} is done`)
      })
      return () => output.slice(start).replace(`${name} is done\n`, '')
    },
    async [Symbol.asyncDispose]() {
      shell.stdin.end()
      await exited
    },
  }
}

/** Waits until every line of the documented output was printed; `…` matches any text. */
export async function untilPrinted(documented: string, printed: () => string): Promise<void> {
  for (const line of documented.split('\n').map((text) => text.trim())) {
    const pattern = new RegExp(line.split('…').map(escapeRegExp).join('.*'))
    await until(`the output "${line}"`, () => pattern.test(printed())).catch((error: unknown) => {
      throw new Error(`"${line}" was not printed:\n${printed()}`, { cause: error })
    })
  }
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
