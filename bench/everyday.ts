import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTokens } from '../src/platform/secrets/tokens.ts'
import { newId, toText } from '../src/platform/values/ids.ts'
import type { LeastWork } from './peers/least.ts'
import { atEnd } from './support/cleanup.ts'
import { paced } from './support/paced.ts'
import { startPeer } from './support/peer.ts'
import { cpuMicrosOfTree } from './support/process-tree.ts'
import { requestsTo } from './support/requests.ts'
import type { Result } from './support/result.ts'
import { percentiles } from './support/rounds.ts'
import { appSecret, type Service, startService } from './support/service.ts'
import { addressOf, createFlow, insertContacts, type OrganizationFlow } from './support/tenant-data.ts'
import { until } from './support/until.ts'

const paces = [5, 20, 100]
const seconds = 12
const warmUpSeconds = 3
const idleSeconds = 20
/** PostgreSQL publishes the transactions of an idle connection after ten seconds. */
const statisticsMs = 11_000

const transactionsMax = 5
const sendMsMax = 5
const hitMsMax = 3
const idleTransactionsMax = 3
const idleShareMax = 0.007

type Cost = { ms: number; transactions: number; leastMs: number; p50Ms: number; p99Ms: number }

/**
 * The cost of the load that most installations have: nothing, and 5, 20 and 100 sends or opens per second, each with its
 * webhook. Beside it, a program that does the least possible at the same pace.
 */
export async function everyday(): Promise<Result> {
  const sink = await startPeer('smtp-sink')
  const receiver = await startReceiver()
  const service = await startService('start', {
    SMTP_URL: `smtp://127.0.0.1:${sink.ports[0]}`,
    MAIL_FROM: 'Acme <shop@example.com>',
  })
  const tenant = await service.register('acme')
  const flow = await createFlow(tenant)
  await insertContacts(service.db, tenant.id, paces.at(-1)! * (seconds + warmUpSeconds))
  await tenant.manage('POST', '/webhooks', {
    name: 'all',
    url: `http://127.0.0.1:${receiver.port}/hook`,
    event_types: ['emailSent', 'emailOpen'],
  })
  const call = requestsTo(service)
  const send = async (index: number) => {
    const email = addressOf(index + 1)
    const arrived = receiver.arrivalOf(email)
    await call(
      'POST',
      '/public/api/v1/flow/send-email-through-flow',
      { 'x-api-token': tenant.apiKey },
      {
        flow_id: flow.text,
        contact_email: email,
        context: { order_id: 1042 },
      },
    )
    await arrived
  }
  const open = async () => {
    const { path, messageId } = pixelOf(flow)
    const arrived = receiver.arrivalOf(messageId)
    await call('GET', path, reader)
    await arrived
  }
  await paced({ perSecond: 20, seconds: warmUpSeconds }, send)
  await paced({ perSecond: 20, seconds: warmUpSeconds }, open)

  const idle = await measureIdle(service)
  const least = await startLeast()
  const leastWork = { smtpPort: sink.ports[0]!, hookPort: receiver.port, email: await sink.last(), seconds }
  const measureAll = async (kind: LeastWork['kind'], operation: (index: number) => Promise<void>) => {
    const costs = new Map<number, Cost>()
    for (const perSecond of paces) {
      const ours = await measure(service, idle, { perSecond, seconds }, operation)
      costs.set(perSecond, { ...ours, leastMs: await least({ ...leastWork, perSecond, kind }) })
    }
    return costs
  }
  const sends = await measureAll('send', send)
  const opens = await measureAll('hit', open)

  const middle = sends.get(20)!
  const isCheap = [5, 20].every(
    (pace) =>
      sends.get(pace)!.transactions <= transactionsMax &&
      sends.get(pace)!.ms <= sendMsMax &&
      opens.get(pace)!.ms <= hitMsMax,
  )
  return {
    figure: `${middle.ms.toFixed(1)} ms, ${middle.transactions.toFixed(1)} transactions at 20 sends/s`,
    reference: `${middle.leastMs.toFixed(1)} ms`,
    ratio: middle.ms / middle.leastMs,
    cpuMicrosPerOperation: middle.ms * 1000,
    p50Ms: middle.p50Ms,
    p99Ms: middle.p99Ms,
    memoryBytes: service.residentBytes(),
    atLeast: {
      wanted: `≤ ${sendMsMax} ms, ${transactionsMax} transactions; opens ≤ ${hitMsMax} ms`,
      holds: isCheap,
    },
    aim: {
      wanted: `idle ≤ ${idleTransactionsMax}/s, ${(idleShareMax * 100).toFixed(1)} %`,
      holds: idle.transactionsPerSecond <= idleTransactionsMax && idle.share <= idleShareMax,
    },
    notes: [
      `idle: ${(idle.share * 100).toFixed(2)} % of a core, ${idle.transactionsPerSecond.toFixed(1)} transactions/s`,
      ...[...sends].map(([pace, cost]) => noteOf(`${pace} sends/s`, cost)),
      ...[...opens].map(([pace, cost]) => noteOf(`${pace} opens/s`, cost)),
    ],
  }
}

type Figures = { at: number; cpuMicros: number; transactions: number }
type Idle = { share: number; transactionsPerSecond: number }

const noteOf = (title: string, { ms, transactions, leastMs, p50Ms, p99Ms }: Cost) =>
  `${title}: ${ms.toFixed(1)} ms CPU (least possible ${leastMs.toFixed(1)}), ${transactions.toFixed(1)} transactions, ` +
  `request to webhook p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`

async function measureIdle(service: Service): Promise<Idle> {
  const before = await figuresOf(service)
  await sleep(idleSeconds * 1000)
  const after = await figuresOf(service)
  const elapsed = (after.at - before.at) / 1000
  return {
    share: (after.cpuMicros - before.cpuMicros) / 1_000_000 / elapsed,
    transactionsPerSecond: (after.transactions - before.transactions) / elapsed,
  }
}

async function measure(
  service: Service,
  idle: Idle,
  pace: { perSecond: number; seconds: number },
  operation: (index: number) => Promise<void>,
): Promise<Omit<Cost, 'leastMs'>> {
  const before = await figuresOf(service)
  const times: number[] = []
  await paced(pace, async (index) => {
    const startedAt = performance.now()
    await operation(index)
    times.push(performance.now() - startedAt)
  })
  const cpuMicros = (service.cpuMicros() ?? Number.NaN) - before.cpuMicros
  const endedAt = performance.now()
  const after = await figuresOf(service)
  const count = pace.perSecond * pace.seconds
  const afterwards = (idle.transactionsPerSecond * (after.at - endedAt)) / 1000
  const { p50Ms, p99Ms } = percentiles(times)
  return {
    ms: cpuMicros / 1000 / count,
    transactions: (after.transactions - before.transactions - afterwards) / count,
    p50Ms: p50Ms!,
    p99Ms: p99Ms!,
  }
}

async function figuresOf(service: Service): Promise<Figures> {
  await sleep(statisticsMs)
  const [row] = await service.db<{ transactions: number }>`
    select (xact_commit + xact_rollback)::float8 as transactions from pg_stat_database where datname = current_database()`
  return { at: performance.now(), cpuMicros: service.cpuMicros() ?? Number.NaN, transactions: row!.transactions }
}

type Receiver = { port: number; arrivalOf(key: string): Promise<void> }

/** A webhook endpoint. Arrivals are known by the address of the contact, or by the message if it has none. */
async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<string, () => void>()
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    response.end('ok')
    const { data } = JSON.parse(body)
    for (const key of [data.contact?.email, data.message_id]) {
      waiting.get(key)?.()
      waiting.delete(key)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    arrivalOf: (key) => new Promise((resolve) => waiting.set(key, resolve)),
  }
}

const reader = { 'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15' }
const tokens = createTokens({ current: appSecret })

function pixelOf({ organizationId, id: flowId }: OrganizationFlow): { path: string; messageId: string } {
  const messageId = newId('msg')
  const path = `/t/o/${tokens.sign('email', { organizationId, flowId, messageId, contactId: newId('con') })}`
  return { path, messageId: toText('msg', messageId) }
}

/** Starts the reference. The returned function runs it at a pace and returns its CPU milliseconds per operation. */
async function startLeast(): Promise<(work: LeastWork) => Promise<number>> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'))
  // As root, PostgreSQL runs as another user, which must be able to access the directory.
  chmodSync(folder, 0o711)
  const child: ChildProcess = fork(fileURLToPath(new URL('./peers/least.js', import.meta.url)), [join(folder, 'data')])
  atEnd(async () => {
    const ended = once(child, 'exit')
    if (child.connected) child.disconnect()
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  await once(child, 'message')
  return async (work) => {
    const before = cpuMicrosOfTree(child.pid!) ?? Number.NaN
    child.send(work)
    await until(
      'the reference',
      (() => {
        let isDone = false
        child.once('message', () => {
          isDone = true
        })
        return () => isDone
      })(),
    )
    return ((cpuMicrosOfTree(child.pid!) ?? Number.NaN) - before) / 1000 / (work.perSecond * work.seconds)
  }
}
