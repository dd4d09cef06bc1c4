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
  pid: () => process.pid,
  later: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms)),
}

serveTasks(Object.entries(tasks).map(([name, run]) => ({ name, title: name, msMax: 0, run })))
