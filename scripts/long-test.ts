import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

/** Runs test files for longer than `npm test` does: `long-test.js FILE… [--minutes N] [--seed S] [--only TEXT]`. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, only: { type: 'string' } },
})

const minutes = Number(values.minutes)
if (positionals.length === 0 || !(minutes > 0)) {
  console.error('Usage: long-test.js FILE… [--minutes N] [--seed S] [--only TEXT]')
  process.exit(2)
}

const child = spawn(
  'npx',
  ['vitest', 'run', '--project', 'service', '--retry=0', '--disableConsoleIntercept=true', ...positionals],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_MINUTES: String(minutes),
      ...(values.seed && { TEST_SEED: values.seed }),
      ...(values.only && { TEST_ONLY: values.only }),
    },
  },
)
child.on('exit', (code) => process.exit(code ?? 1))
