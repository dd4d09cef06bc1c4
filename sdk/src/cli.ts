#!/usr/bin/env node
import { runDeveloperCommand } from './developer-commands.ts'

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())

process.exitCode = await runDeveloperCommand({
  args: process.argv.slice(2),
  program: 'npx @waxwing/sdk',
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
  signal: ending.signal,
})
