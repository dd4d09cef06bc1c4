import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'

const second = '2nd'

/** A broadcast to one recipient whose email was deferred once, and is being sent again. */
async function deferredInFlight() {
  const relay = await startRelay()
  let release = () => {}
  const released = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined)
  })
  const attempts: string[] = []
  relay.onRecipient = (address) => {
    attempts.push(attempts.length === 0 ? 'first' : second)
    return attempts.length === 1 ? { code: 451, text: `4.7.1 Try again later, ${address}` } : released
  }
  const app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '0.05,3600' })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('reader', 1))])
  await broadcast.start()
  await until('the second attempt', () => attempts.includes(second))
  return {
    relay,
    broadcast,
    release,
    attempts,
    sentEvents: async () => (await app.db`select from events where event_name = 'emailSent'`).length,
    [Symbol.asyncDispose]: async () => {
      release()
      await app[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    },
  }
}

test('the outcome of an email in flight is recorded although its broadcast was resumed', async () => {
  await using world = await deferredInFlight()
  await world.broadcast.act('pause')
  await world.broadcast.act('resume')
  world.release()
  expect((await world.broadcast.ended()).counts).toMatchObject({ recipients: 1, sent: 1 })
  expect([world.attempts.length, world.relay.mails.length, await world.sentEvents()]).toEqual([2, 1, 1])
})

test('the outcome of an email in flight is recorded although its broadcast was cancelled', async () => {
  await using world = await deferredInFlight()
  await world.broadcast.act('cancel')
  world.release()
  await until('the outcome', async () => (await world.broadcast.get()).counts.queued === 0)
  expect((await world.broadcast.get()).counts).toMatchObject({ recipients: 1, sent: 1 })
  expect(await world.broadcast.recipients('sent')).toHaveLength(1)
  expect([world.attempts.length, world.relay.mails.length, await world.sentEvents()]).toEqual([2, 1, 1])
})

test('a recipient that is suppressed while its email waits gets none, although its row was read again since', async () => {
  await using relay = await startRelay({ parse: false })
  const { promise: released, resolve: release } = withResolvers()
  let started = 0
  // An email leaves often enough that rows are read again in the background, before they are too old to be used.
  relay.onRecipient = async () => {
    started++
    await released
    await sleep(200)
    return undefined
  }
  await using app = await startTestApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '1' })
  const { make, group, create } = await fill(app)
  // As many as may wait for a connection.
  const addresses = emails('reader', 10)
  const broadcast = await create([await group('Readers', addresses)])
  await broadcast.start()
  await until('the first email', () => started > 0)
  const suppressed = addresses.at(-1)!
  await make('/suppressions', { email: suppressed })
  release()
  expect((await broadcast.ended()).counts).toMatchObject({ recipients: 10, sent: 9, suppressed: 1 })
  expect(await broadcast.recipients('suppressed')).toMatchObject([{ email: suppressed, reason: 'manual' }])
  expect(relay.mails.map(({ recipient }) => recipient)).not.toContain(suppressed)
})
