import { expect, test } from 'vitest'
import { emails, fill, fillUrl } from '../../../test/support/broadcasts.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { freePort, newCustomer, startService } from '../../../test/support/service.ts'
import { callUrl } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import { until } from '../../../test/support/until.ts'

const recipients = 300
/** What a mail server far away takes for an email. */
const farAwayMs = 20
const timeout = longTestMsMax.processes

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A service with one sending process, which is sending a broadcast. Its relay accepts a third of the emails, then more after `acceptMore`. */
async function startBroadcast() {
  const relay = await startRelay({ parse: false })
  const database = await createTestDb()
  const environment = { DATABASE_URL: database.url, SMTP_URL: relay.url, SENDING_PROCESSES: '1', LOG_LEVEL: 'info' }
  let accepted = 0
  let acceptedMax = 0
  relay.onData = async () => {
    await until('the relay to accept more', () => accepted < acceptedMax)
    accepted++
    return undefined
  }
  const acceptMore = () => {
    acceptedMax += recipients / 3
  }
  const acceptedAll = () => until('these emails', () => relay.mails.length >= acceptedMax)
  const service = await startService('start', environment)
  const { group, create } = await fillUrl(service.url)
  const broadcast = await create([await group('All', emails('a', recipients))])
  await broadcast.start()
  acceptMore()
  await acceptedAll()
  /** The sending process, from the log. */
  const startedProcess = () =>
    until('the start of a process in the log', () => {
      const started = [...service.output().matchAll(/"pid":(\d+),"msg":"Sending process started"/g)]
      return started.length > 0 ? Number(started.at(-1)![1]) : undefined
    })
  const expectAll = async () => {
    acceptedMax = Number.POSITIVE_INFINITY
    expect((await broadcast.ended()).counts).toMatchObject({ sent: recipients, pending: 0 })
    expect(new Set(relay.mails.map(({ recipient }) => recipient)).size).toBe(recipients)
  }
  return {
    relay,
    service,
    acceptMore,
    acceptedAll,
    startedProcess,
    expectAll,
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    },
  }
}

test('a broadcast whose sending process and then whose service is killed reaches everybody', { timeout }, async () => {
  await using world = await startBroadcast()
  const { service, relay } = world
  expect(service.output()).toContain('1 child process sends broadcasts (SENDING_PROCESSES)')
  const first = await world.startedProcess()
  process.kill(first, 'SIGKILL')
  world.acceptMore()
  await world.acceptedAll()
  const second = await world.startedProcess()
  expect(second).not.toBe(first)
  expect(service.output()).toContain('"exit":"SIGKILL"')

  // What its processes counted is part of its metrics.
  const metrics = async () => (await callUrl('GET', `${service.url}/metrics`)).text
  const sent = async () => Number(/^waxwing_emails_total\{outcome="sent"\} (\d+)$/m.exec(await metrics())![1])
  await until('the second process to report', async () => (await sent()) > 0)
  expect(await metrics()).toContain('waxwing_sending_processes 1')
  expect(await sent()).toBeLessThanOrEqual(relay.mails.length)

  await service.kill()
  world.acceptMore()
  await until('the end of the sending process', () => !isRunning(second))
  await service.start()
  await world.expectAll()
})

test('broadcasts leave through mail servers of organizations while SMTP_URL is unreachable', { timeout }, async () => {
  await using relay = await startRelay({ parse: false })
  await using database = await createTestDb()
  const SMTP_URL = `smtp://127.0.0.1:${await freePort()}`
  await using service = await startService('start', { DATABASE_URL: database.url, SMTP_URL, SENDING_PROCESSES: '1' })
  const { make, flow, group, create } = await fillUrl(service.url)
  await make(`/flows/${flow}/test`, { to: 'ada@example.com', context: { city: 'Vienna' } })
  const metrics = async () => (await callUrl('GET', `${service.url}/metrics`)).text
  await until('the outage to be noticed', async () => (await metrics()).includes('waxwing_relay_up 0'))
  await make('/mail-servers', { name: 'Main', url: relay.url })
  const broadcast = await create([await group('All', emails('a', 3))])
  await broadcast.start()
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 3 })
  expect(await metrics()).toContain('waxwing_sending_processes 1')
})

test('a broadcast uses all connections but one, and half of them while other email waits', { timeout }, async () => {
  const connections = 10
  const inFlight = { broadcast: 0, other: 0 }
  const most = { broadcast: 0, other: 0, together: 0 }
  await using relay = await startRelay({ parse: false })
  const isOfBroadcast = ({ recipient }: { recipient: string }) => recipient.startsWith('a')
  relay.onData = async (mail) => {
    const kind = isOfBroadcast(mail) ? 'broadcast' : 'other'
    inFlight[kind]++
    most[kind] = Math.max(most[kind], inFlight[kind])
    most.together = Math.max(most.together, inFlight.broadcast + inFlight.other)
    await new Promise((resolve) => setTimeout(resolve, farAwayMs))
    inFlight[kind]--
    return undefined
  }
  await using database = await createTestDb()
  const environment = { DATABASE_URL: database.url, SMTP_CONNECTIONS: String(connections), SENDING_PROCESSES: '1' }
  await using service = await startService('start', { ...environment, SMTP_URL: relay.url })
  const { manage, apiKey } = await newCustomer(service.url)
  const publicApi = (method: string, path: string, body?: unknown) =>
    callUrl(method, `${service.url}/public/api/v1${path}`, { headers: { 'x-api-token': apiKey }, body })
  const { group, create } = await fill({ manage, publicApi })
  const broadcast = await create([await group('All', emails('a', 8_000))])
  await broadcast.start()
  await until('the broadcast to use its connections', () => most.broadcast === connections - 1)

  const sendOthers = (prefix: string) =>
    publicApi(
      'POST',
      '/emails/batch',
      emails(prefix, 100).map((to) => ({ to, from: 'shop@example.com', subject: 'Your order', text: 'On its way.' })),
    )
  for (const prefix of ['b', 'c', 'd']) expect((await sendOthers(prefix)).status).toBe(200)
  await until('the other email', () => relay.mails.filter((mail) => !isOfBroadcast(mail)).length === 300)
  expect(most).toEqual({ broadcast: connections - 1, other: connections / 2, together: connections })
  most.broadcast = 0
  await until('the broadcast to get them back', () => most.broadcast === connections - 1)
  await broadcast.act('cancel')
})

test('after SIGTERM the emails in flight are recorded, and none is sent again', { timeout }, async () => {
  await using world = await startBroadcast()
  const { service, relay } = world
  const child = await world.startedProcess()
  process.kill(service.pid(), 'SIGTERM')
  await until('the log', () => service.output().includes('Stopping'))
  world.acceptMore()
  await service.ended()
  expect(isRunning(child)).toBe(false)
  await service.start()
  await world.expectAll()
  expect(relay.mails).toHaveLength(recipients)
})
