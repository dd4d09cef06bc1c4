import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startRelay } from './support/relay.ts'
import { announcedSeed } from './support/seeded.ts'
import { newCustomer, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { createTestDb } from './support/test-db.ts'
import { until } from './support/until.ts'

const recipients = Number(process.env.TEST_RECIPIENTS ?? 2_000)
const kills = Number(process.env.TEST_KILLS ?? 4)
const perRequest = 1_000
/** Emails before the next kill. The relay accepts no more, so that the broadcast does not end before the last kill. */
const perKill = recipients / (kills + 1)
/** With ten connections of each of the two workers, the second half of them takes as long as the longest wait before a kill. */
const pauseMsMax = 300
const replyMs = (20 * pauseMsMax) / (perKill / 2)
const waitMsMax = 300_000 + 5 * recipients

const flow = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'News',
  html: '<p>Hello {{ email }}. <a href="https://example.com/news">Read</a></p>',
}

test('a broadcast whose processes are killed and which is paused at random moments reaches everybody once', {
  timeout: 2 * waitMsMax,
}, async () => {
  await using relay = await startRelay({ parse: false })
  let accepted = 0
  let acceptedMax = perKill
  relay.onData = async () => {
    await sleep(replyMs)
    await until('the next kill', () => accepted < acceptedMax, waitMsMax)
    accepted++
    return undefined
  }
  await using database = await createTestDb()
  const environment = { DATABASE_URL: database.url, SMTP_URL: relay.url }
  await using serve = await startService('serve', environment)
  await using first = await startService('work', environment)
  await using second = await startService('work', environment)
  const { manage, apiKey } = await newCustomer(serve.url)
  const group = (await manage('POST', '/organization/groups', { name: 'All' })).body.data.id
  for (let at = 0; at < recipients; at += perRequest) {
    const members = Array.from({ length: Math.min(perRequest, recipients - at) }, (_, n) => ({
      email: `r${at + n}@example.com`,
    }))
    const added = await callUrl('POST', `${serve.url}/public/api/v1/contacts/add-group-members`, {
      headers: { 'x-api-token': apiKey },
      body: { group_id: group, members },
    })
    expect(added.status).toBe(200)
  }
  const flowId = (await manage('POST', '/organization/flows', flow)).body.data.id
  const content = { name: 'News', flow_id: flowId, audience: { group_ids: [group] } }
  const { id } = (await manage('POST', '/organization/broadcasts', content)).body.data
  const path = `/organization/broadcasts/${id}`
  const get = async () => (await manage('GET', path)).body.data

  const starts = await Promise.all(
    [1, 2].map(() => manage('POST', `${path}/start`, { expected_recipients: recipients })),
  )
  expect(starts.map(({ status }) => status).sort()).toEqual([202, 409])

  const random = announcedSeed('kills while broadcasting')
  for (let kill = 1; kill <= kills; kill++) {
    acceptedMax = kill * perKill
    await until('more to be sent', () => relay.mails.length >= (kill - 0.5) * perKill, waitMsMax)
    // At a random moment: between reading, sending and recording.
    await sleep(random.next() * pauseMsMax)
    const victim = random.pick([serve, first, second])
    await victim.kill()
    if (victim === serve) await serve.start()
    if (random.chance(0.5)) {
      const paused = await manage('POST', `${path}/pause`)
      expect(paused.body.data.status).toBe('paused')
      await sleep(random.next() * pauseMsMax)
      expect((await manage('POST', `${path}/resume`)).body.data.status).toBe('sending')
    }
    if (victim !== serve) await victim.start()
  }
  acceptedMax = Number.POSITIVE_INFINITY

  const sent = await until(
    'the end of the broadcast',
    async () => {
      const broadcast = await get()
      return broadcast.status === 'sent' && broadcast
    },
    waitMsMax,
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
  const [messages] = await database.db<{ total: number; contacts: number }>`
    select count(*) as total, count(distinct contact_id) as contacts from messages where broadcast_id is not null`
  expect(messages).toEqual({ total: recipients, contacts: recipients })
  const [events] = await database.db<{ total: number }>`
    select count(*) as total from events where event_name = 'emailSent'`
  expect(events!.total).toBe(recipients)

  const idsOf = new Map<string, Set<string>>()
  for (const { recipient, raw } of relay.mails) {
    const ids = idsOf.get(recipient) ?? new Set()
    idsOf.set(recipient, ids.add(/^Message-ID: <(msg_\w+)@/m.exec(raw)![1]!))
  }
  expect(idsOf.size).toBe(recipients)
  // An email that arrived twice has the same Message-ID, so mail systems can recognize it.
  expect([...idsOf.values()].filter((ids) => ids.size > 1)).toEqual([])
  console.info(`${relay.mails.length - recipients} of ${recipients} emails arrived twice after ${kills} kills`)
})
