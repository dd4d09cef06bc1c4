import { expect, test } from 'vitest'
import { emails, fill, opener, storeOtherBroadcast } from '../../test/support/broadcasts.ts'
import { person } from '../../test/support/readers.ts'
import { startRelay, startSharedRelay, type TestRelay } from '../../test/support/relay.ts'
import { create } from '../../test/support/resources.ts'
import { newCustomer, startService } from '../../test/support/service.ts'
import { callUrl, startSharedApp, startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { createTestDb, type TestDb } from '../../test/support/test-db.ts'
import { longTestMsMax } from '../../test/support/time-limits.ts'
import { until } from '../../test/support/until.ts'
import { openDb } from '../platform/db/db.ts'
import { parseId } from '../platform/values/ids.ts'
import { localStart } from './schedule.ts'

const sharedRelay = await startSharedRelay()
const newOrganization = await startSharedApp({ SMTP_URL: sharedRelay.url })

const bySubject = (relay: TestRelay) => {
  const counts: Record<string, number> = {}
  for (const { mail } of relay.mails) counts[mail.subject!] = (counts[mail.subject!] ?? 0) + 1
  return counts
}
const recipientsOf = (relay: TestRelay) => new Set(relay.mails.map(({ recipient }) => recipient))

/** Opens the first link of an email like a person. */
async function click(app: TestApp, raw: string): Promise<void> {
  const [, path] = /href="[^"]*(\/t\/c\/[^"]+)"/.exec(raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '='))!
  const answer = await callUrl('GET', `${app.url}${path}`, { headers: { 'user-agent': person } })
  expect(answer.status).toBe(302)
}

/** Brings the wait for the winner of the organization's broadcasts to its end, as if it was over some time ago. */
async function endWait(app: TestApp, overSince = 0): Promise<void> {
  const organizationId = parseId('org', app.organizationId)!
  await until('the wait', async () => {
    const rows = await app.db.statement`
      update jobs set due_at = now() - ${overSince} * interval '1 second'
      where organization_id = ${organizationId} and kind like 'broadcast.%' and due_at > now() + interval '1 minute'
      returning 1`
    return rows.length > 0
  })
  await app.db.statement`
    update lanes set next_due_at = now()
    where organization_id = ${organizationId} and kind like 'broadcast.%' and not held`
}

const sampleSent = (broadcast: { get: () => Promise<{ decides_at: string | null }> }) =>
  until('the sample to be sent', async () => {
    const now = await broadcast.get()
    return now.decides_at !== null && now
  })

const comparison = {
  variants: [{ subject: 'News for {{ city }}', share: 50 }, { flow_version: 2, share: 25 }, { share: 25 }],
  ...{ test_percent: 40, winner_by: 'clicks', decide_after_seconds: 3_600 },
}

/** Starts a broadcast to 100 people with three variants, two of which are versions of the flow. */
async function startComparison(app: TestApp) {
  const { group, create, flow } = await fill(app)
  await app.manage('PATCH', `/organization/flows/${flow}`, { subject: 'Second version' })
  await app.manage('PATCH', `/organization/flows/${flow}`, { subject: 'Third version' })
  const readers = await group('Readers', emails('a', 100))
  const other = await storeOtherBroadcast(app)
  const broadcast = await create([readers], comparison)
  const started = (await broadcast.start()).body.data
  return { broadcast, other, started, waiting: await sampleSent(broadcast) }
}

/** Clicks in four of the twenty emails of variant A, and in three of the ten of variant B. */
async function clickInSample(
  app: TestApp,
  relay: TestRelay,
  broadcast: { get: () => Promise<unknown> },
): Promise<void> {
  const sample = (subject: string, count: number) =>
    relay.mails.filter(({ mail }) => mail.subject === subject).slice(0, count)
  for (const { raw } of [...sample('News for Vienna', 4), ...sample('Second version', 3)]) await click(app, raw)
  // On a busy machine, a click may be recorded after its response.
  await until('the clicks to be counted', async () => {
    const { variants } = (await broadcast.get()) as { variants: { clicked: number }[] }
    return variants.map(({ clicked }) => clicked).join() === '4,3,0'
  })
}

test('the sample is split exactly, and the variant with the highest click rate goes to the rest', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { broadcast, other, started, waiting } = await startComparison(app)
  expect(started).toMatchObject({ ...comparison, winner: null, decides_at: null })
  expect(waiting).toMatchObject({ status: 'sending', counts: { sent: 40, pending: 60 }, winner: null })
  expect(bySubject(relay)).toEqual({ 'News for Vienna': 20, 'Second version': 10, 'Third version': 10 })

  // Three of ten are more than four of twenty.
  await clickInSample(app, relay, broadcast)
  expect((await broadcast.act('retry-failed')).status).toBe(409)
  // While it is paused, nothing is decided.
  await broadcast.act('pause')
  await endWait(app)
  await broadcast.act('resume')
  const sent = await broadcast.ended()
  expect(bySubject(relay)).toEqual({ 'News for Vienna': 20, 'Second version': 70, 'Third version': 10 })
  expect(recipientsOf(relay).size).toBe(100)
  expect(sent.counts).toMatchObject({ recipients: 100, sent: 100 })
  expect(sent).toMatchObject({ winner: 'B' })
  const none = { bounced: 0, opened: 0, unsubscribed: 0, complained: 0 }
  const first = { key: 'A', subject: 'News for {{ city }}', flow_version: null }
  const second = { ...none, key: 'B', subject: null, flow_version: 2, share: 25 }
  const third = { ...none, key: 'C', subject: null, flow_version: null }
  expect(sent.variants).toMatchObject([
    { ...first, recipients: 20, sent: 20, clicked: 4, winner: false },
    { ...second, recipients: 10, sent: 10, clicked: 3, winner: true },
    { ...third, recipients: 10, sent: 10, clicked: 0, winner: false },
  ])
  const copy = (await broadcast.act('duplicate')).body.data
  expect(copy).toMatchObject({ ...comparison, winner: null, decides_at: null })
  expect(await other.readRows()).toEqual(other.stored)
})

test('the figures of a variant lead to its people in the sample; a file has the variant that everybody got', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { broadcast } = await startComparison(app)
  await clickInSample(app, relay, broadcast)
  await endWait(app)
  await broadcast.ended()
  // The assignment depends on the broadcast and the contact only.
  const path = `/organization/broadcasts/${broadcast.id}/recipients`
  const listed = (await app.manage('GET', `${path}?limit=100`)).body.data
  const inVariant = (key: string | null) => listed.filter(({ variant }: { variant: string | null }) => variant === key)
  expect(['A', 'B', 'C', null].map((key) => inVariant(key).length)).toEqual([20, 10, 10, 60])
  for (const [variant, sent, clicked] of [
    ['A', 20, 4],
    ['B', 10, 3],
    ['C', 10, 0],
  ] as const) {
    const count = async (filter: string) =>
      (await app.manage('GET', `${path}?limit=100&variant=${variant}${filter}`)).body.data.length
    expect([await count('&engagement=sent'), await count('&engagement=clicked')]).toEqual([sent, clicked])
    expect(await count('&engagement=opened')).toBe(0)
    const { text } = await app.manage('GET', `${path}/export?engagement=clicked&variant=${variant}`)
    expect(text.trim().split('\r\n')).toHaveLength(1 + clicked)
  }
  const [header, ...lines] = (await app.manage('GET', `${path}/export`)).text.trim().split('\r\n')
  const column = header!.split(',').indexOf('variant')
  const variantsInFile = lines.map((line) => line.split(',')[column])
  expect(['A', 'B', 'C'].map((key) => variantsInFile.filter((each) => each === key).length)).toEqual([20, 70, 10])
})

test('each variant can be tested', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create, flow } = await fill(app)
  await app.manage('PATCH', `/organization/flows/${flow}`, { subject: 'Second version' })
  const broadcast = await create([await group('Readers', emails('a', 1))], comparison)
  for (const [variant, subject] of [
    ['A', '[Test] News for Vienna'],
    ['B', '[Test] Second version'],
  ]) {
    expect((await broadcast.act('test', { to: emails('a', 1)[0], variant })).status).toBe(200)
    await until('the test email', () => relay.mails.at(-1)?.mail.subject === subject)
  }
  expect((await broadcast.act('test', { to: 'a@example.com', variant: 'D' })).status).toBe(422)
})

test('what a contact lacks of a variant is reported by the check, and only those who get that variant fail', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create, flow } = await fill(app)
  const other = await storeOtherBroadcast(app)
  const nowhere = await group('Nowhere', ['nowhere@example.com', 'nobody@example.com'], {})
  await app.manage('PATCH', `/organization/flows/${flow}`, { html: '<p>News</p>' })
  const split = await create([nowhere], {
    variants: [{ subject: 'Hi {{ city }}', share: 50 }, { share: 50 }],
    test_percent: 100,
  })
  expect((await split.act('check')).body.data).toMatchObject({
    recipients: 2,
    missing_variables: [{ variable: 'city', contacts: 2 }],
  })
  await split.start()
  const halves = await split.ended()
  expect(halves).toMatchObject({ counts: { sent: 1, failed: 1 }, winner: null, decides_at: null })
  const [failed] = await split.recipients('failed')
  const contacts = (await app.manage('GET', `/organization/contacts?query=${failed!.email}`)).body.data
  await app.manage('PATCH', `/organization/contacts/${contacts[0].id}`, { attributes: { city: 'Graz' } })
  await split.act('retry-failed')
  expect((await split.ended()).counts).toMatchObject({ sent: 2, failed: 0 })
  expect(relay.mails.at(-1)!.mail.subject).toBe('Hi Graz')
  expect(await other.readRows()).toEqual(other.stored)
})

const twoSubjects = [
  { subject: 'First', share: 50 },
  { subject: 'Second', share: 50 },
]
const halfSample = { variants: twoSubjects, test_percent: 50 }

test('a tie goes to the first variant; a wait that was interrupted for long pauses before', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const tied = await create([await group('Readers', emails('a', 20))], halfSample)
  await tied.start()
  await sampleSent(tied)
  expect(bySubject(relay)).toEqual({ First: 5, Second: 5 })
  // As if a backup was restored long after the winner was sent.
  await endWait(app, 2 * 3_600)
  expect(await tied.ended('paused')).toMatchObject({ reason: 'interrupted', winner: null })
  await tied.act('resume')
  expect(await tied.ended()).toMatchObject({ winner: 'A', counts: { sent: 20 } })
  expect(bySubject(relay)).toEqual({ First: 15, Second: 5 })
  expect((await tied.act('choose-variant', { variant: 'B' })).status).toBe(409)
})

test('a broadcast that is cancelled while it waits for the winner sends nothing more', async () => {
  const relay = sharedRelay.reset()
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const groupId = await group('Readers', emails('a', 20))
  const other = await storeOtherBroadcast(app)
  const cancelled = await create([groupId], halfSample)
  await cancelled.start()
  await sampleSent(cancelled)
  expect((await cancelled.act('cancel')).status).toBe(200)
  await until('the end', async () => (await cancelled.get()).counts.cancelled === 10)
  await endWait(app)
  expect((await cancelled.act('choose-variant', { variant: 'A' })).status).toBe(409)
  expect(relay.mails).toHaveLength(10)
  expect(await other.readRows()).toEqual(other.stored)
})

test('the rate of a variant is that of the emails sent', async () => {
  const app = await newOrganization()
  const { group, create, flow } = await fill(app)
  const judged = await create([await group('Readers', emails('a', 20))], halfSample)
  await judged.start()
  await sampleSent(judged)
  // Two of three are more than three of five.
  const path = `/organization/broadcasts/${judged.id}/recipients?status=sent`
  const sample: (Parameters<typeof opened>[0] & { variant: string })[] = (await app.manage('GET', path)).body.data
  const inVariant = (key: string) => sample.filter(({ variant }) => variant === key)
  const opened = opener(app, flow)
  for (const each of [...inVariant('A').slice(0, 3), ...inVariant('B').slice(0, 2)]) await opened(each)
  const messageIds = inVariant('B').map(({ message_id }) => parseId('msg', message_id))
  await app.db.statement`
    update broadcast_recipients set status = 'unsubscribed', reason = 'unsubscribed'
    where message_id = any (${messageIds.slice(-2)}::uuid[])`
  await endWait(app)
  expect(await judged.ended()).toMatchObject({ winner: 'B', counts: { sent: 18, unsubscribed: 2 } })
})

test('at local time, each zone gets the sample at the planned time, and the rest at that time of a later day', async () => {
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const zones = [
    await group('Kiritimati', emails('k', 4), { city: 'London', time_zone: 'Pacific/Kiritimati' }),
    await group('Tokyo', emails('t', 4), { city: 'Tokyo', time_zone: 'Asia/Tokyo' }),
  ]
  const inTokyo = Date.now() + 9 * 3_600_000
  const at = new Date(inTokyo + 300_000).toISOString().slice(0, 16)
  const local = await create(zones, {
    ...{ ...halfSample, missed_after_seconds: 86_400 },
    schedule: { at, time_zone: 'UTC', per_recipient: true },
  })
  await local.start()
  await until('the sample in Kiritimati', async () => (await local.get()).counts.sent > 0)
  await endWait(app)
  await sampleSent(local)
  expect((await local.get()).counts).toMatchObject({ sent: 4, pending: 4 })
  await local.act('choose-variant', { variant: 'B' })
  const waiting = await until('the parts of the rest', async () => {
    const rows = await app.db<{ hours: number }>`
      select round(extract(epoch from due_at - now()) / 3600)::int as hours
      from jobs where organization_id = ${parseId('org', app.organizationId)!} and kind = 'broadcast.run'
        and lane like '%/%'
      order by due_at`
    return rows.length === 2 ? rows : undefined
  })
  expect(waiting.map(({ hours }) => hours)).toEqual([0, 19])
  await local.act('cancel')
  await local.ended('cancelled')
})

test('no variant is chosen for a broadcast without variants', async () => {
  const app = await newOrganization()
  const { group, create } = await fill(app)
  const plain = await create([await group('Readers', emails('a', 2))])
  await plain.start()
  await plain.ended()
  expect((await plain.act('choose-variant', { variant: 'A' })).body.message).toContain('no variants')
})

test('a variant chosen by hand reaches the rest once, also if the worker is killed', {
  timeout: longTestMsMax.processes,
}, async () => {
  await using relay = await startRelay({ parse: false })
  relay.onData = () => new Promise((resolve) => setTimeout(() => resolve(undefined), 50))
  await using database = await createTestDb()
  const environment = { DATABASE_URL: database.url, SMTP_URL: relay.url, SMTP_CONNECTIONS: '4' }
  await using serve = await startService('serve', environment)
  await using work = await startService('work', environment)
  const { manage, apiKey } = await newCustomer(serve.url)
  const group = (await create({ manage }, '/groups', { name: 'All' })).id
  await callUrl('POST', `${serve.url}/public/api/v1/contacts/add-group-members`, {
    headers: { 'x-api-token': apiKey },
    body: { group_id: group, members: emails('a', 300).map((email) => ({ email })) },
  })
  const flow = { name: 'News', kind: 'marketing', subject: 'Flow', html: '<p>News</p>' }
  const { id } = await create({ manage }, '/broadcasts', {
    name: 'News',
    flow_id: (await create({ manage }, '/flows', flow)).id,
    audience: { group_ids: [group] },
    variants: [
      { subject: 'First', share: 50 },
      { subject: 'Second', share: 50 },
    ],
    test_percent: 10,
    winner_by: 'manual',
  })
  const path = `/organization/broadcasts/${id}`
  const get = async () => (await manage('GET', path)).body.data
  await manage('POST', `${path}/start`)
  // Chosen before the sample is sent.
  await until('the first email', () => relay.mails.length > 0)
  expect((await manage('POST', `${path}/choose-variant`, { variant: 'C' })).status).toBe(422)
  const answers = await Promise.all(['B', 'B'].map((variant) => manage('POST', `${path}/choose-variant`, { variant })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  await until('the rest', () => relay.mails.length > 60, longTestMsMax.intervals / 2)
  await work.kill()
  await work.start()
  const sent = await until('the end', async () => {
    const now = await get()
    return now.status === 'sent' && now
  })
  expect(sent).toMatchObject({ winner: 'B', counts: { sent: 300 }, variants: [{ recipients: 15 }, { recipients: 15 }] })
  const subjects = new Map<string, Set<string>>()
  for (const { recipient, raw } of relay.mails)
    subjects.set(recipient, (subjects.get(recipient) ?? new Set()).add(/^Subject: (.*)\r$/m.exec(raw)![1]!))
  expect(subjects.size).toBe(300)
  // An email that arrived twice because of the kill has the same variant.
  const flat = [...subjects.values()].map((each) => [...each].join())
  expect([flat.filter((text) => text === 'First').length, flat.filter((text) => text === 'Second').length]).toEqual([
    15, 285,
  ])
  const [messages] = await database.db<{ total: number }>`select count(*) as total from messages`
  expect(messages!.total).toBe(300)
})

test('the rest of a broadcast at local time gets it at the same time of a later day', () => {
  const at = '2026-10-24T09:00'
  const start = (notBefore: string) => localStart(at, 'Europe/Vienna', new Date(notBefore)).toISOString()
  expect(localStart(at, 'Europe/Vienna').toISOString()).toBe('2026-10-24T07:00:00.000Z')
  expect(start('2026-10-24T06:59:00Z')).toBe('2026-10-24T07:00:00.000Z')
  // Clocks are set back on 25 October.
  expect(start('2026-10-24T11:00:00Z')).toBe('2026-10-25T08:00:00.000Z')
  expect(start('2026-10-27T09:00:00Z')).toBe('2026-10-28T08:00:00.000Z')
})

test('the links of a broadcast have its campaign parameters, also of emails that were deferred', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '1,1,1' })
  const { group, create, flow } = await fill(app)
  await app.manage('PATCH', `/organization/flows/${flow}`, { utm: { source: 'flow', medium: 'email' } })
  let deferred = 0
  relay.onRecipient = () => (deferred++ === 0 ? { code: 451, text: '4.7.1 later' } : undefined)
  const variants = [
    { subject: 'A', share: 50 },
    { subject: 'B', share: 50 },
  ]
  const groupId = await group('Readers', emails('a', 4))
  const broadcast = await create([groupId], {
    utm: { source: 'news', campaign: 'spring' },
    variants,
    test_percent: 100,
  })
  await broadcast.start()
  await broadcast.ended()
  const locations = async () => {
    const found = new Set<string>()
    for (const { mail } of relay.mails) {
      const [, path] = /href="[^"]*(\/t\/c\/[^"]+)"/.exec(mail.html!)!
      const answer = await fetch(`${app.url}${path}`, { method: 'HEAD', redirect: 'manual' })
      found.add(`${mail.subject} ${answer.headers.get('location')}`)
    }
    return [...found].sort()
  }
  expect(relay.mails).toHaveLength(4)
  expect(await locations()).toEqual([
    'A https://example.com/news?utm_source=news&utm_campaign=spring&utm_content=variant-a',
    'B https://example.com/news?utm_source=news&utm_campaign=spring&utm_content=variant-b',
  ])
  relay.mails.length = 0
  expect((await broadcast.act('test', { to: emails('a', 1)[0], variant: 'B' })).status).toBe(200)
  await until('the test email', () => relay.mails.length === 1)
  expect((await locations())[0]).toContain('?utm_source=news&utm_campaign=spring&utm_content=variant-b')
  // Without its own, a broadcast has those of the flow.
  const copy = (await broadcast.act('duplicate')).body.data
  expect(copy.utm).toEqual({ source: 'news', medium: null, campaign: 'spring', content: null })
  await app.manage('PATCH', `/organization/broadcasts/${copy.id}`, { utm: null, variants: [] })
  relay.mails.length = 0
  await app.manage('POST', `/organization/broadcasts/${copy.id}/start`, {})
  await until('the emails', () => relay.mails.length === 4)
  expect(await locations()).toEqual(['Hello there https://example.com/news?utm_source=flow&utm_medium=email'])
})

test('subjects that read the brand are checked while all connections are in use', async () => {
  const openFor = ({ connection }: TestDb) => openDb({ connection, connectionsMax: 2 })
  await using app = await startTestApp({}, ['serve'], { openFor })
  const { create, flow } = await fill(app)
  const drafts = await Promise.all([create([]), create([]), create([])])
  const subject = (at: number) => `{{ brand.name }} ${at}`
  const heavy = '{{ brand.name }}'.repeat(41)
  const variants = [
    { subject: heavy, share: 50 },
    { subject: subject(0), share: 50 },
  ]
  const change = (at: number) => ({ subject: subject(at), flow_id: flow, ...(at === 5 && { variants }) })
  const changed = await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      app.manage('PATCH', `/organization/broadcasts/${drafts[at % 3]!.id}`, change(at)),
    ),
  )
  expect(changed.map(({ status }) => status)).toEqual(Array(6).fill(200))
  const previews = await Promise.all(drafts.map(({ act }, at) => act('preview', { draft: change(at + 3) })))
  expect(previews.map(({ status }) => status)).toEqual(Array(3).fill(200))
  const broken = await app.manage('PATCH', `/organization/broadcasts/${drafts[0]!.id}`, {
    variants: [variants[0], { subject: '{{ brand.', share: 50 }],
  })
  expect([broken.status, broken.body.error.fields[0].path]).toEqual([422, 'variants.1.subject'])
})
