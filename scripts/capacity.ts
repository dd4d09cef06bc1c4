import { parseArgs } from 'node:util'
import { type Plan, planFor } from './capacity-plan.ts'

const help = `Usage: npm run capacity -- --emails-per-day N [options]

Estimates the processes and the database for a number of emails per day, from the figures in bench/README.md.

  --hours N             a day's emails are sent within this time (8)
  --hits-per-email N    opens and clicks per email (0.6)
  --webhooks N          webhooks that receive every event (1)
  --days N              days for which messages and events are kept (365)
  --connections N       DATABASE_CONNECTIONS (10)
`

const { values } = parseArgs({
  options: {
    'emails-per-day': { type: 'string' },
    hours: { type: 'string', default: '8' },
    'hits-per-email': { type: 'string', default: '0.6' },
    webhooks: { type: 'string', default: '1' },
    days: { type: 'string', default: '365' },
    connections: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})

const advice: Record<Plan['step'], string> = {
  'one process': 'One process with the embedded PostgreSQL is enough.',
  'one database': 'Set DATABASE_URL to a PostgreSQL server, and run serve and work separately.',
  pooler: 'Set DATABASE_URL to a PostgreSQL server behind PgBouncer, and DATABASE_DIRECT_URL to the server itself.',
  'beyond one database':
    'One PostgreSQL server is not enough. Divide the organizations between installations, each with its own database.',
}

const workload = {
  emailsPerDay: Number(values['emails-per-day']),
  hours: Number(values.hours),
  hitsPerEmail: Number(values['hits-per-email']),
  webhooks: Number(values.webhooks),
  days: Number(values.days),
  connections: Number(values.connections),
}
const isValid = Object.values(workload).every((value) => value >= 0) && workload.hours > 0
if (values.help || !isValid) {
  process.stdout.write(help)
  process.exit(values.help ? 0 : 2)
}
process.stdout.write(describe(planFor(workload)))

function describe(plan: Plan): string {
  const rate = (perSecond: number) =>
    `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')}/s`
  const processes = plan.serve === 0 ? '1 start' : `${plan.serve} serve, ${plan.work} work`
  return `Peak          ${rate(plan.emailsPerSecond)} emails, ${rate(plan.hitsPerSecond)} opens and clicks, ${rate(plan.deliveriesPerSecond)} webhook deliveries
Processes     ${processes}
Database      ${plan.databaseCores} ${plan.databaseCores === 1 ? 'core' : 'cores'}, ${Math.ceil(plan.databaseGigabytes).toLocaleString('en')} GB, ${plan.connections} connections
${advice[plan.step]}
`
}
