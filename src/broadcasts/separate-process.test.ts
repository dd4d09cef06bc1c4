import { pino } from 'pino'
import { expect, test } from 'vitest'
import { emails, fill } from '../../test/support/broadcasts.ts'
import { startRelay } from '../../test/support/relay.ts'
import { spareTaskProcesses, startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { createApp } from '../app.ts'

const secret = 'a secret that both processes share'

/** Starts a worker for broadcasts only, on the database of a service. */
async function startBroadcaster({ config, db }: TestApp, relayUrl = config.SMTP_URL): Promise<AsyncDisposable> {
  const app = await createApp({
    config: { ...config, SMTP_URL: relayUrl, BROADCASTS: 'only' },
    secrets: { current: secret, previous: undefined },
    db,
    log: pino({ level: 'silent' }),
    roles: ['work'],
    spareTaskProcesses,
  })
  await app.start()
  return { [Symbol.asyncDispose]: () => app.stop() }
}

const welcome = { name: 'Welcome', kind: 'transactional', subject: 'Welcome', html: '<p>Welcome</p>' }

test('with BROADCASTS=exclude a process sends only other emails, and one with BROADCASTS=only sends the broadcast', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, APP_SECRET: secret, BROADCASTS: 'exclude' })
  const { make, group, create } = await fill(app)
  const flow = (await make('/flows', welcome)).id
  const broadcast = await create([await group('All', emails('a', 20))])
  await broadcast.start()
  await make(`/flows/${flow}/send`, { contact_email: 'a00000@example.com' })
  await until('the other email', () => relay.mails.length === 1)
  expect((await broadcast.get()).status).toBe('preparing')

  await using _broadcaster = await startBroadcaster(app)
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 20, pending: 0 })
  expect(relay.mails).toHaveLength(21)
})

test('with BROADCASTS=only a process sends no other email', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, APP_SECRET: secret }, ['serve'])
  const { make, group, create } = await fill(app)
  const flow = (await make('/flows', welcome)).id
  const broadcast = await create([await group('All', emails('a', 20))])
  const message = await make(`/flows/${flow}/send`, { contact_email: 'a00000@example.com' })
  await using _broadcaster = await startBroadcaster(app)
  await broadcast.start()
  await broadcast.ended()
  expect(relay.mails).toHaveLength(20)
  const { body } = await app.manage('GET', `/organization/messages/${message.message_id}`)
  expect(body.data.status).toBe('queued')
})

test('two processes share a broadcast', async () => {
  await using first = await startRelay({ parse: false })
  await using second = await startRelay({ parse: false })
  await using app = await startTestApp({ SMTP_URL: first.url, APP_SECRET: secret })
  await using _broadcaster = await startBroadcaster(app, second.url)
  // Neither relay answers before both have been given an email.
  const asked = [first, second].map(
    (relay) =>
      new Promise<void>((resolve) => {
        relay.onRecipient = async () => {
          resolve()
          await Promise.all(asked)
          return undefined
        }
      }),
  )
  const { group, create } = await fill(app)
  const broadcast = await create([await group('All', emails('a', 1_000))])
  await broadcast.start()
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 1_000, pending: 0 })
  const addresses = [...first.mails, ...second.mails].map(({ recipient }) => recipient)
  expect(new Set(addresses).size).toBe(1_000)
  expect(addresses).toHaveLength(1_000)
})
