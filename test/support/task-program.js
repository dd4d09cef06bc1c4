import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { serveTasks } from '../../dist/src/platform/tasks/serve.js'
import { Refusal } from '../../dist/src/platform/values/errors.js'

/** A task process whose tasks misbehave. The declarations are in src/platform/tasks/pool.test.ts. */
const tasks = {
  double: (number) => number * 2,
  forever: () => {
    for (;;);
  },
  array: () => {
    const numbers = []
    for (;;) numbers.push(1)
  },
  split: () => 'x'.repeat(500_000_000).split('').length,
  exit: () => process.exit(3),
  refuse: () => {
    throw new Refusal('validation_failed', 'No.', { fields: [{ path: 'html', problem: 'is wrong' }] })
  },
  fail: () => {
    throw new TypeError('A bug')
  },
  environment: () => ({ ...process.env }),
  forbidden: ({ outside, inside }) =>
    [
      () => readFileSync(outside),
      () => writeFileSync(outside, ''),
      () => writeFileSync(inside, ''),
      () => execFileSync(process.execPath, ['--version']),
      () => readFileSync(import.meta.filename),
    ].map((act) => {
      try {
        act()
        return 'allowed'
      } catch ({ code }) {
        return code
      }
    }),
  pid: () => process.pid,
  later: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms)),
}

serveTasks(Object.entries(tasks).map(([name, run]) => ({ name, title: name, msMax: 0, run })))
