import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { happen } from './support/events.ts'
import { announcedSeed } from './support/seeded.ts'
import { newCustomer, startService } from './support/service.ts'
import { createTestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'

/** `KILLS=100 npx vitest run test/kill-while-delivering.test.ts` for a long run. */
const kills = Number(process.env.KILLS ?? 4)
const endpoints = 20
const eventsPerKill = 20
const aliveMsMax = 500

test(`${kills} kills of one of two workers leave no event undelivered`, {
  timeout: longTestMsMax.kills(kills),
}, async () => {
  await using database = await createTestDb()
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const environment = { DATABASE_URL: database.url }
  await using serve = await startService('serve', environment)
  await using killed = await startService('work', environment)
  await using _spared = await startService('work', environment)
  const customer = await newCustomer(serve.url)
  const organization = (await customer.manage('GET', '/me')).body.data.organization.id
  for (let n = 0; n < endpoints; n++)
    await customer.manage('POST', '/organization/webhooks', {
      name: `Hook ${n}`,
      url: `${receiver.url()}/${n}`,
      all_events: true,
    })

  const random = announcedSeed('kills while delivering')
  for (let kill = 0; kill < kills; kill++) {
    await happen(database.db, organization, 'emailOpen', eventsPerKill)
    // At a random moment: between claiming, posting, recording and releasing.
    await sleep(random.next() * aliveMsMax)
    await killed.kill()
    await killed.start()
  }

  const total = kills * eventsPerKill * endpoints
  const delivered = () => new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size
  await until('every delivery to arrive', () => delivered() === total, 240_000)
  await until(
    'every delivery to be recorded',
    async () => (await database.db`select from deliveries where status = 'pending'`).length === 0,
    240_000,
  )
  console.info(`${receiver.posts.length - total} of ${total} deliveries arrived twice`)
  expect(delivered()).toBe(total)
})
