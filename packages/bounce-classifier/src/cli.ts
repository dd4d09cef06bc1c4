#!/usr/bin/env node
import { classifyFiles } from './classify-files.ts'

const files = process.argv.slice(2)
if (files.length === 0 || files.includes('--help')) {
  process.stderr.write('Usage: classify-bounce FILE…\nPrints one line of JSON per file.\n')
  process.exitCode = files.length === 0 ? 2 : 0
} else {
  const warn = (line: string) => {
    process.exitCode = 1
    process.stderr.write(`${line}\n`)
  }
  for await (const line of classifyFiles(files, warn)) process.stdout.write(`${line}\n`)
}
