import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { query } from './support/embedded-child.ts'
import { startOwnDatabase, useSite } from './support/own-database.ts'
import { startRelay } from './support/relay.ts'
import { create } from './support/resources.ts'
import { announcedSeed } from './support/seeded.ts'
import { type Customer, newCustomer, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

const recipients = Number(process.env.TEST_RECIPIENTS ?? 1_000)
const kills = Number(process.env.TEST_KILLS ?? 3)
const perRequest = 1_000
/** Emails before the next kill. The relay accepts no more, so that the broadcast does not end before the last kill. */
const perKill = recipients / (kills + 1)
/** With ten connections of each of the two workers, the second half of them takes as long as the longest wait before a kill. */
const pauseMsMax = 300
const replyMs = (20 * pauseMsMax) / (perKill / 2)
const endMsMax = longTestMsMax.kills(kills) / 2 + 5 * recipients

const flow = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'News',
  html: '<p>Hello {{ email }}. <a href="https://example.com/news">Read</a></p>',
}

const site = useSite()

/** Creates a broadcast to a group of all recipients and returns its id. */
async function createBroadcast(url: string, customer: Customer): Promise<string> {
  const group = (await create(customer, '/groups', { name: 'All' })).id
  for (let at = 0; at < recipients; at += perRequest) {
    const members = Array.from({ length: Math.min(perRequest, recipients - at) }, (_, n) => ({
      email: `r${at + n}@example.com`,
    }))
    const added = await callUrl('POST', `${url}/public/api/v1/contacts/add-group-members`, {
      headers: { 'x-api-token': customer.apiKey },
      body: { group_id: group, members },
    })
    expect(added.status).toBe(200)
  }
  const flowId = (await create(customer, '/flows', flow)).id
  const content = { name: 'News', flow_id: flowId, audience: { group_ids: [group] } }
  return (await create(customer, '/broadcasts', content)).id
}

/** An email that arrived twice has the same Message-ID, so mail systems can recognize it. */
function expectSameIds(mails: { recipient: string; raw: string }[]): void {
  const idsOf = new Map<string, Set<string>>()
  for (const { recipient, raw } of mails) {
    const ids = idsOf.get(recipient) ?? new Set()
    idsOf.set(recipient, ids.add(/^Message-ID: <(msg_\w+)@/m.exec(raw)![1]!))
  }
  expect(idsOf.size).toBe(recipients)
  expect([...idsOf.values()].filter((ids) => ids.size > 1)).toEqual([])
}

test('a broadcast whose processes, including the database, are killed and which is paused at random moments reaches everybody once', {
  timeout: 2 * endMsMax,
}, async () => {
  await using relay = await startRelay({ parse: false })
  let accepted = 0
  let acceptedMax = perKill
  relay.onData = async () => {
    await sleep(replyMs)
    await until('the next kill', () => accepted < acceptedMax, endMsMax)
    accepted++
    return undefined
  }
  const database = await startOwnDatabase(site())
  const environment = { DATABASE_URL: database.url(), SMTP_URL: relay.url }
  await using serve = await startService('serve', environment)
  await using first = await startService('work', environment)
  await using second = await startService('work', environment)
  const customer = await newCustomer(serve.url)
  const { manage } = customer
  const path = `/organization/broadcasts/${await createBroadcast(serve.url, customer)}`
  const get = async () => (await manage('GET', path)).body.data

  const starts = await Promise.all(
    [1, 2].map(() => manage('POST', `${path}/start`, { expected_recipients: recipients })),
  )
  expect(starts.map(({ status }) => status).sort()).toEqual([202, 409])

  const random = announcedSeed('kills while broadcasting')
  for (let kill = 1; kill <= kills; kill++) {
    acceptedMax = kill * perKill
    await until('more to be sent', () => relay.mails.length >= (kill - 0.5) * perKill, endMsMax)
    // At a random moment: between reading, sending and recording.
    await sleep(random.next() * pauseMsMax)
    const victim = random.pick([serve, first, second, database])
    await victim.kill()
    // Without a worker, the broadcast can be paused.
    const isWorker = victim === first || victim === second
    if (!isWorker) await victim.start()
    await until('the service to answer', async () => (await manage('GET', path)).status === 200, endMsMax)
    if (random.chance(0.5)) {
      const paused = await manage('POST', `${path}/pause`)
      expect(paused.body.data.status).toBe('paused')
      await sleep(random.next() * pauseMsMax)
      expect((await manage('POST', `${path}/resume`)).body.data.status).toBe('sending')
    }
    if (isWorker) await victim.start()
  }
  acceptedMax = Number.POSITIVE_INFINITY

  const sent = await until(
    'the end of the broadcast',
    async () => {
      const broadcast = await get()
      return broadcast.status === 'sent' && broadcast
    },
    endMsMax,
  )
  expect(sent.counts).toEqual({
    recipients,
    pending: 0,
    queued: 0,
    sent: recipients,
    bounced: 0,
    suppressed: 0,
    unsubscribed: 0,
    failed: 0,
    cancelled: 0,
  })
  const counted = await query(
    database.started(),
    `select
      (select count(*)::int from messages where broadcast_id is not null) as messages,
      (select count(distinct contact_id)::int from messages where broadcast_id is not null) as contacts,
      (select count(*)::int from events where event_name = 'emailSent') as events`,
  )
  expect(counted).toEqual([{ messages: recipients, contacts: recipients, events: recipients }])

  expectSameIds(relay.mails)
  console.info(`${relay.mails.length - recipients} of ${recipients} emails arrived twice after ${kills} kills`)
})
