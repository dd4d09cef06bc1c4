import { rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTokens } from '../../src/platform/secrets/tokens.ts'
import {
  type ContactId,
  type FlowId,
  type MessageId,
  type OrganizationId,
  parseId,
} from '../../src/platform/values/ids.ts'
import type { Site } from './embedded-child.ts'
import { type OwnDatabase, startOwnDatabase } from './own-database.ts'
import { type Answer, hang, type RawSmtp, reset, startRawSmtp } from './raw-smtp.ts'
import { create } from './resources.ts'
import { askedMinutes, type Seeded } from './seeded.ts'
import { makeDataDir, newCustomer, type Service, startService } from './service.ts'
import { callUrl } from './test-app.ts'
import { until } from './until.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'

const senders = 8
const readers = 8
const workPerFault = askedMinutes ? 100 : 40
const answerMsMax = 120_000
/** Size limit for files of a serving process: the spool reaches it soon during a database outage. */
const fileKiBMax = 64
const secret = 'a secret of the processes that are killed'
/** Short, and so many that no outage in the test exhausts them. */
const retryDelays = Array(20).fill('1').join(',')

export type PeerMode = 'healthy' | 'hanging' | 'garbage' | 'refusing'

export type FaultWorld = AsyncDisposable & {
  database: OwnDatabase
  serve: Service
  workers: [Service, Service]
  relay: RawSmtp
  /** One endpoint that always acknowledges, and one that follows `modes`. */
  receivers: [Receiver, Receiver]
  modes: { relay: PeerMode; receiver: PeerMode }
  organizationId: OrganizationId
  /** Acknowledged with 200: messages by id, and opens by the id of their message. */
  accepted: Set<string>
  opened: Set<string>
  spool: string
  setClock(offsetMs: number): void
  /** Waits until the load has made progress. */
  moreWork(): Promise<void>
  heal(): Promise<void>
  stopLoad(): Promise<void>
}

/**
 * Starts a database, a serving process, two workers, a relay and two endpoints, under load by customers and readers.
 */
export async function startFaultWorld(site: Site, random: Seeded): Promise<FaultWorld> {
  const database = await startOwnDatabase(site)
  const modes: FaultWorld['modes'] = { relay: 'healthy', receiver: 'healthy' }
  const relay = await startRawSmtp({ answer: ({ verb }) => smtpAnswer(modes.relay, verb, random) })
  const steady = await startReceiver((response) => response.end(), { plain: true })
  const unsteady = await startReceiver((response) => answerPost(modes.receiver, response, random), { plain: true })
  const dataDir = makeDataDir()
  const clock = join(dataDir, 'clock-step')
  const environment = {
    DATABASE_URL: database.url(),
    APP_SECRET: secret,
    LOG_LEVEL: 'silent',
    SMTP_URL: relay.url,
    MAIL_RETRY_DELAYS: retryDelays,
    WEBHOOK_RETRY_DELAYS: retryDelays,
    WEBHOOK_TIMEOUT_MS: '1500',
    NODE_OPTIONS: `--require=${resolve('test/support/clock-step.cjs')}`,
    CLOCK_STEP_FILE: clock,
    DATA_DIR: dataDir,
  }
  const serve = await startService('serve', environment, { fileKiBMax })
  const workers = await Promise.all([startService('work', environment), startService('work', environment)])
  const customer = await newCustomer(serve.url)
  const organizationId = parseId('org', (await customer.manage('GET', '/me')).body.data.organization.id)!
  const flow = { name: 'Order', kind: 'transactional', subject: 'Order {{ n }}', html: '<p>Order {{ n }}</p>' }
  const flowId = (await create(customer, '/flows', flow)).id
  for (const [name, receiver] of Object.entries({ steady, unsteady }))
    await customer.manage('POST', '/organization/webhooks', { name, url: receiver.url(), all_events: true })

  const accepted = new Set<string>()
  const opened = new Set<string>()
  const load = startLoad({ url: serve.url, apiKey: customer.apiKey, flowId, organizationId, accepted, opened })
  const setClock = (offsetMs: number) => writeFileSync(clock, String(offsetMs))
  const processes = [serve, ...workers]
  return {
    database,
    serve,
    workers: workers as [Service, Service],
    relay,
    receivers: [steady, unsteady],
    modes,
    organizationId,
    accepted,
    opened,
    spool: join(dataDir, 'spool'),
    setClock,
    moreWork: async () => {
      const before = accepted.size
      await until('more mail to be accepted', () => accepted.size >= before + workPerFault, answerMsMax)
    },
    heal: async () => {
      modes.relay = 'healthy'
      modes.receiver = 'healthy'
      setClock(0)
    },
    stopLoad: load.stop,
    [Symbol.asyncDispose]: async () => {
      await load.stop()
      for (const each of processes) await each[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
      await steady[Symbol.asyncDispose]()
      await unsteady[Symbol.asyncDispose]()
      await database.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

const garbage = Buffer.from('\x00\xff\xfe<html>not SMTP\r\n999 \r\n25', 'latin1')

function smtpAnswer(mode: PeerMode, verb: string, random: Seeded): Answer | undefined {
  switch (mode) {
    case 'healthy':
      return undefined
    case 'hanging':
      return hang
    case 'garbage':
      return random.pick<Answer>([garbage, reset, '250'])
    case 'refusing':
      return verb === 'greeting' ? '421 4.3.2 Not now' : '451 4.3.0 Try again later'
  }
}

function answerPost(
  mode: PeerMode,
  response: Parameters<Parameters<typeof startReceiver>[0]>[0],
  random: Seeded,
): void {
  switch (mode) {
    case 'healthy':
      response.end()
      return
    case 'hanging':
      return
    case 'garbage':
      response.socket?.end(
        random.pick(['HTTP/1.1 999 \r\n\r\n', '\x00\xff', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx']),
      )
      return
    case 'refusing':
      response.writeHead(random.pick([204, 301, 500, 503])).end()
  }
}

type Target = {
  url: string
  apiKey: string
  flowId: string
  organizationId: OrganizationId
  accepted: Set<string>
  opened: Set<string>
}

/**
 * Customers who send with an idempotency key and readers who open each email, each with retries until there is a
 * response.
 */
function startLoad({ url, apiKey, flowId, organizationId, accepted, opened }: Target) {
  const tokens = createTokens({ current: secret })
  const agent = new Agent({ keepAlive: true, maxSockets: readers })
  const unread: { messageId: MessageId; contactId: ContactId }[] = []
  let running = true
  let next = 0

  const send = async (n: number) => {
    const headers = { 'x-api-token': apiKey, 'idempotency-key': `order-${n}` }
    const body = { flow_id: flowId, contact_email: `c${n}@example.com`, context: { n } }
    const { data } = await until(
      'a send to be accepted',
      async () => {
        const call = callUrl('POST', `${url}/public/api/v1/flow/send-email-through-flow`, { headers, body })
        const answer = await call.catch(() => undefined)
        if (answer?.status === 200) return answer.body
        await sleep(50)
        return undefined
      },
      answerMsMax,
    )
    accepted.add(parseId('msg', data.message_id)!)
    unread.push({ messageId: parseId('msg', data.message_id)!, contactId: parseId('con', data.contact_id)! })
  }
  const sendAll = async () => {
    while (running) {
      await send(next++)
      await sleep(5)
    }
  }
  const hit = (path: string) =>
    new Promise<number>((done) => {
      const sent = request(`${url}${path}`, { agent, headers: { 'user-agent': 'Mozilla/5.0' } }, (response) => {
        response.once('error', () => done(0))
        response.resume().once('end', () => done(response.statusCode ?? 0))
      })
      sent.setTimeout(10_000, () => sent.destroy())
      sent.once('error', () => done(0)).end()
    })
  const readAll = async () => {
    while (running || unread.length > 0) {
      const mail = unread.shift()
      if (!mail) {
        await sleep(10)
        continue
      }
      const ids = { organizationId, flowId: parseId('flw', flowId) as FlowId, ...mail }
      if ((await hit(`/t/o/${tokens.sign('email', ids)}`)) === 200) opened.add(mail.messageId)
      else {
        await sleep(20)
        unread.push(mail)
      }
    }
  }
  const all = [...Array.from({ length: senders }, sendAll), ...Array.from({ length: readers }, readAll)]
  const ended = Promise.all(all)
  ended.catch(() => {})
  return {
    stop: async () => {
      running = false
      await ended
      agent.destroy()
    },
  }
}
