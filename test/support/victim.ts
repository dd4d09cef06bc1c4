import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProbeSample, ProbeTarget } from '../../bench/peers/tenant-probe.ts'
import { createTokens, type Tokens } from '../../src/platform/secrets/tokens.ts'
import { type OrganizationId, parseId } from '../../src/platform/values/ids.ts'
import { startRelay } from './relay.ts'
import { create } from './resources.ts'
import { askedMinutes } from './seeded.ts'
import { type Customer, freePort, newCustomer, type Service, startService } from './service.ts'
import { callUrl } from './test-app.ts'
import { createTestDb, type TestDb } from './test-db.ts'
import { startReceiver } from './webhook-receiver.ts'

const appSecret = 'a secret that the attacked service and its tests share'
const bounceDomain = 'bounces.sender.example'
/** Short runs check the responses of the other tenant, long ones also print the latencies, which need many samples. */
const probeEveryMs = askedMinutes ? 20 : 100
const memoryEveryMs = 500

export type Stalls = {
  p99: number
  max: number
  calls: number
  failed: string[]
  /** Milliseconds of /health, and of sending an email without a flow. */
  healthP99: number
  sendP50: number
  sendP99: number
  /** Answers 429 and 503. */
  refused: number
}

export type Victim = AsyncDisposable & {
  url: string
  service: Service
  database: TestDb
  attacker: Customer & { organizationId: OrganizationId }
  tokens: Tokens
  bouncePort: number
  submissionPort: number
  bounceDomain: string
  /** An endpoint of the attacker that never responds. */
  hangingUrl: string
  /** The tenant who is measured. */
  bystander: Customer
  /** The latencies of the other tenant since the last call. */
  stalls(): Promise<Stalls>
  /** The largest resident size of the service and its child processes so far, in MiB. */
  memoryMax(): number
}

/** Starts the compiled service, an attacker, and another tenant who is measured from a separate process. */
export async function startVictim(environment: Record<string, string> = {}): Promise<Victim> {
  const database = await createTestDb()
  const hanging = await startReceiver(() => {}, { plain: true })
  const [bouncePort, submissionPort] = [await freePort(), await freePort()]
  const service = await startService('start', {
    DATABASE_URL: database.url,
    APP_SECRET: appSecret,
    LOG_LEVEL: 'warn',
    BOUNCE_SMTP_PORT: String(bouncePort),
    BOUNCE_SMTP_HOST: '127.0.0.1',
    SUBMISSION_PORT: String(submissionPort),
    BOUNCE_DOMAIN: bounceDomain,
    ...environment,
  })
  const bystander = await newCustomer(service.url, 'Bystander')
  const attacker = await newCustomer(service.url, 'Attacker')
  const organization = (await attacker.manage('GET', '/me')).body.data.organization.id
  const flow = { name: 'Hello', kind: 'transactional', subject: 'Hello', html: '<p>Hello</p>' }
  const flowId = (await create(bystander, '/flows', flow)).id
  const { session, apiKey } = bystander
  const probe = startProbe({ url: service.url, session, apiKey, flowId, everyMs: probeEveryMs })
  const memory = watchMemory(service.pid())
  return {
    url: service.url,
    service,
    database,
    attacker: { ...attacker, organizationId: parseId('org', organization)! },
    bystander,
    tokens: createTokens({ current: appSecret }),
    bouncePort,
    submissionPort,
    bounceDomain,
    hangingUrl: hanging.url(),
    stalls: probe.stalls,
    memoryMax: memory.max,
    [Symbol.asyncDispose]: async () => {
      memory[Symbol.dispose]()
      await probe[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      await hanging[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

export type BroadcastVictim = Victim & {
  bystander: Customer & { broadcast: object }
  /** While it is not disposed, the mail server takes this long for each email of the attacker. */
  slowRelay(ms: number): AsyncDisposable
  /** Posts to the public API as the other tenant, and returns the status. */
  postAsBystander(path: string, body: object): Promise<number>
  /** Whether the mail server of the installation has received an email for this address. */
  hasArrived(address: string): boolean
  /** Records how long something took that must not take longer than `msMax`. */
  note(what: string, ms: number, msMax: number): void
  /** Returns what was recorded since the last call. */
  notes(): { what: string; ms: number; msMax: number }[]
}

/** A victim with a mail server, and another tenant who can send a broadcast to five contacts. */
export async function startBroadcastVictim(): Promise<BroadcastVictim> {
  const relay = await startRelay({ parse: false })
  const victim = await startVictim({ SMTP_URL: relay.url })
  const { manage } = victim.bystander
  const make = async (path: string, body: object) => (await create({ manage }, path, body)).id
  const group = await make('/groups', { name: 'Readers' })
  for (let at = 0; at < 5; at++)
    await manage('POST', '/organization/contacts', { email: `reader${at}@bystander.example`, group_ids: [group] })
  const flow = await make('/flows', { name: 'News', kind: 'marketing', subject: 'News', html: '<p>News</p>' })
  let notes: ReturnType<BroadcastVictim['notes']> = []
  return {
    ...victim,
    bystander: {
      ...victim.bystander,
      broadcast: { name: 'News', flow_id: flow, audience: { group_ids: [group] } },
    },
    slowRelay: (ms) => {
      relay.onData = async ({ recipient }) => {
        if (recipient.endsWith('@zoned.example')) await sleep(ms)
        return undefined
      }
      return {
        [Symbol.asyncDispose]: async () => {
          relay.onData = () => undefined
        },
      }
    },
    postAsBystander: async (path, body) => {
      const headers = { 'x-api-token': victim.bystander.apiKey }
      return (await callUrl('POST', `${victim.url}/public/api/v1${path}`, { headers, body })).status
    },
    hasArrived: (address) => relay.mails.some(({ recipient }) => recipient === address),
    note: (what, ms, msMax) => void notes.push({ what, ms, msMax }),
    notes: () => {
      const taken = notes
      notes = []
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      await victim[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    },
  }
}

function startProbe(target: ProbeTarget) {
  const child = fork('dist/bench/peers/tenant-probe.js')
  child.send(target)
  return {
    stalls: async (): Promise<Stalls> => {
      const answered = once(child, 'message')
      child.send('samples')
      const [samples] = (await answered) as [ProbeSample[]]
      const quantile = (share: number, name?: string) => {
        const sorted = samples.flatMap(({ call, ms }) => (!name || call === name ? [ms] : [])).sort((a, b) => a - b)
        return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
      }
      return {
        p99: quantile(0.99),
        max: quantile(1),
        calls: samples.length,
        healthP99: quantile(0.99, 'health'),
        sendP50: quantile(0.5, 'email'),
        sendP99: quantile(0.99, 'email'),
        refused: samples.filter(({ status }) => status === 429 || status === 503).length,
        // 503 is the expected overload response; callers count it if necessary.
        failed: samples
          .filter(({ status }) => status === 0 || status >= 500)
          .map(({ call, status }) => `${call} ${status}`),
      }
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

function watchMemory(pid: number) {
  let max = 0
  const look = () => {
    max = Math.max(max, residentMiB(pid))
  }
  const timer = setInterval(look, memoryEveryMs)
  return {
    max: () => {
      look()
      return max
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The resident size of a process and its children, or 0 if it has exited. */
function residentMiB(pid: number): number {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number])
  return Math.round(
    rows.filter(([own, parent]) => own === pid || parent === pid).reduce((sum, [, , kib]) => sum + kib, 0) / 1024,
  )
}
