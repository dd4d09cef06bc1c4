import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { accept } from './accept.ts'
import { backlog } from './backlog.ts'
import { beside } from './beside.ts'
import { broadcast } from './broadcast.ts'
import { deliver } from './deliver.ts'
import { distant } from './distant.ts'
import { everyday } from './everyday.ts'
import { guard } from './guard.ts'
import { latency } from './latency.ts'
import { members } from './members.ts'
import { memory } from './memory.ts'
import { metrics } from './metrics.ts'
import { pagesOfBroadcast } from './pages.ts'
import { send } from './send.ts'
import { snapshot } from './snapshot.ts'
import { cleanUp } from './support/cleanup.ts'
import { options } from './support/options.ts'
import type { Result } from './support/result.ts'
import { tableOf } from './support/table.ts'
import { track } from './track.ts'

const benches: Record<string, () => Promise<Result>> = {
  accept,
  members,
  send,
  broadcast,
  distant,
  beside,
  track,
  deliver,
  latency,
  everyday,
  metrics,
  pages: pagesOfBroadcast,
  backlog,
  snapshot,
  memory,
}

/** Registering takes a tenth of a second each. */
const organizationsMax = 1_000

/** `npm run bench -- [name …] [--json FILE] [--profile FOLDER] [--organizations COUNT] [--verbose]` */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      profile: { type: 'string' },
      organizations: { type: 'string', default: '1' },
      base: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  })
  if (positionals[0] === 'guard') return (await guard(values.base)) ? 0 : 1
  const unknown = positionals.filter((name) => !(name in benches))
  if (unknown.length > 0) {
    console.error(`Unknown bench "${unknown.join(', ')}". Available: ${Object.keys(benches).join(', ')}.`)
    return 2
  }
  const organizations = Number(values.organizations)
  if (!Number.isInteger(organizations) || organizations < 1 || organizations > organizationsMax) {
    console.error(`--organizations must be a number from 1 to ${organizationsMax}.`)
    return 2
  }
  options.organizations = organizations
  options.profileFolder = values.profile
  options.verbose = values.verbose

  const results: Record<string, Result & { seconds: number }> = {}
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    console.error(`${name} …`)
    const startedAt = Date.now()
    try {
      const result = await benches[name]!()
      results[name] = { ...result, seconds: Math.round((Date.now() - startedAt) / 1000) }
    } finally {
      await cleanUp()
    }
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.version}`
  const report = { date: new Date().toISOString(), machine, results }
  console.log(`${report.date}, ${machine}\n\n${tableOf(results)}`)
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
  return Object.values(results).every(({ atLeast }) => atLeast.holds) ? 0 : 1
}

let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted = true
    void cleanUp().then(() => process.exit(1))
  })
process.exitCode = await main().catch((error) => {
  // Operations in progress fail because their peers are being stopped.
  if (!interrupted) throw error
  return 1
})
