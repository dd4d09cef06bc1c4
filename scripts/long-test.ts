import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

/**
 * Runs test files for longer than `npm test` does, and with inputs that nobody has tried before:
 * `long-test.js FILE… [--minutes N] [--seed S] [--only TEXT]`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, only: { type: 'string' } },
})

const minutes = Number(values.minutes)
if (positionals.length === 0 || !(minutes > 0)) {
  console.error('Usage: long-test.js FILE… [--minutes N] [--seed S] [--only TEXT]')
  process.exit(2)
}

const { seed = String(randomInt(2 ** 31)), only } = values
const script = process.env.npm_lifecycle_event
const command = script ? `npm run ${script} --` : `node dist/scripts/long-test.js ${positionals.join(' ')}`
const repeated = `${command} --minutes ${minutes} --seed ${seed}${only ? ` --only '${only}'` : ''}`
console.info(`Repeat this run with: ${repeated}`)

const child = spawn(
  'npx',
  ['vitest', 'run', '--project', 'service', '--retry=0', '--disableConsoleIntercept=true', ...positionals],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_MINUTES: String(minutes),
      TEST_SEED: seed,
      ...(only && { TEST_ONLY: only }),
    },
  },
)
child.on('exit', (code) => {
  if (code !== 0) console.error(`Repeat this run with: ${repeated}`)
  process.exit(code ?? 1)
})
