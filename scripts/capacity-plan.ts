/** CPU time of one operation in microseconds, from bench/README.md: one core of a virtual server of 2026. */
export const costs = {
  accept: { node: 75, postgres: 75 },
  send: { node: 150, postgres: 120 },
  track: { node: 85, postgres: 85 },
  deliver: { node: 190, postgres: 110 },
} as const

/** Bytes per row with its indexes, measured with 5,000 small emails; a delivery includes its attempt. */
export const bytes = { message: 750, event: 330, delivery: 1_120 } as const

export type Workload = {
  emailsPerDay: number
  /** A day's emails are sent within this time. */
  hours: number
  /** Opens and clicks per email. */
  hitsPerEmail: number
  /** Webhooks that receive every event. */
  webhooks: number
  /** How long events are kept. Deliveries are kept for 30 days. */
  days: number
  /** Connections per process: DATABASE_CONNECTIONS. */
  connections: number
}

export type Plan = {
  emailsPerSecond: number
  hitsPerSecond: number
  deliveriesPerSecond: number
  serve: number
  work: number
  databaseCores: number
  databaseGigabytes: number
  connections: number
  step: 'one process' | 'one database' | 'pooler' | 'beyond one database'
}

/** A core that is busier has no room for peaks. */
const usableShare = 0.6
const microsPerSecond = 1e6
const deliveryDays = 30
/** More server connections than this cost PostgreSQL more than a pooler does. */
const connectionsWithoutPooler = 200
/** Cores of a large PostgreSQL server. Nothing above was tried. */
const databaseCoresMax = 64

export function planFor({ emailsPerDay, hours, hitsPerEmail, webhooks, days, connections }: Workload): Plan {
  const emails = emailsPerDay / (hours * 3_600)
  const hits = emails * hitsPerEmail
  // Every email is an event itself.
  const eventsPerEmail = 1 + hitsPerEmail
  const deliveries = emails * eventsPerEmail * webhooks
  const cores = (part: 'node' | 'postgres', rates: Partial<Record<keyof typeof costs, number>>) =>
    Object.entries(rates).reduce(
      (sum, [name, rate]) => sum + (rate * costs[name as keyof typeof costs][part]) / microsPerSecond,
      0,
    ) / usableShare
  const serving = { accept: emails, track: hits }
  const working = { send: emails, deliver: deliveries }
  const [serve, work] = [cores('node', serving), cores('node', working)]
  const database = cores('postgres', { ...serving, ...working })
  const isOne = serve + work <= 1 && database <= 1
  const processes = isOne ? { serve: 0, work: 0 } : { serve: atLeastTwo(serve), work: atLeastTwo(work) }
  const total = isOne ? 1 : processes.serve + processes.work
  const stored =
    emailsPerDay *
    (days * (bytes.message + eventsPerEmail * bytes.event) + deliveryDays * eventsPerEmail * webhooks * bytes.delivery)
  return {
    emailsPerSecond: emails,
    hitsPerSecond: hits,
    deliveriesPerSecond: deliveries,
    ...processes,
    databaseCores: Math.ceil(database),
    databaseGigabytes: stored / 1e9,
    connections: total * (connections + 1),
    step: stepOf(isOne, database, total * (connections + 1)),
  }
}

/** Two, so that one can be restarted. */
const atLeastTwo = (count: number) => Math.max(2, Math.ceil(count))

function stepOf(isOne: boolean, databaseCores: number, connections: number): Plan['step'] {
  if (isOne) return 'one process'
  if (databaseCores > databaseCoresMax) return 'beyond one database'
  return connections > connectionsWithoutPooler ? 'pooler' : 'one database'
}
