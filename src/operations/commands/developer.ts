import { runDeveloperCommand } from '@waxwing/sdk'

/** Runs a command that uses only the public API. The SDK has the same ones. Returns the exit code. */
export async function runDeveloper(args: readonly string[]): Promise<number> {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())
  return runDeveloperCommand({
    args,
    program: 'waxwing',
    print: (line) => process.stdout.write(`${line}\n`),
    printError: (line) => process.stderr.write(`${line}\n`),
    signal: ending.signal,
  })
}
