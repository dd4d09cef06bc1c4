import { expect, test } from 'vitest'
import { emails, fill, opener, reactionOf } from '../../../test/support/broadcasts.ts'
import {
  engagementIn,
  engagements,
  hoursOf,
  type ListedRecipient,
  linksOf,
  type Reader,
  readersOf,
  totalsOf,
  variantOf,
} from '../../../test/support/engagement-model.ts'
import { settled } from '../../../test/support/recount.ts'
import { announcedSeed, type Seeded } from '../../../test/support/seeded.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { addPendingCounts } from '../../events/recording/pending-counts.ts'
import { rebuildCounters } from '../../events/recording/rebuild.ts'
import { EventRecorder, type NewEvent, recordEvents } from '../../events/recording/record.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import type { EventName } from '../../platform/values/event-types.ts'
import { toText } from '../../platform/values/ids.ts'

type Recipient = ListedRecipient & { message_id: string; links: string[] }

const links = ['https://example.com/news', 'https://example.com/shop', 'https://example.com/terms']

function dataOf(eventName: EventName, url: string): NewEvent['data'] {
  if (eventName === 'emailClick') return { url }
  if (!eventName.endsWith('Bounce')) return {}
  const [type, reason] =
    eventName === 'emailHardBounce' ? (['hard', 'user_unknown'] as const) : (['soft', 'mailbox_full'] as const)
  return { bounce: { type, status: null, reply_code: null, reason, diagnostic: null } }
}

/** All pages of a list. */
async function listAll<Row = Recipient>(app: TestApp, path: string, limit = 19): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const page = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`
    const { status, text, body } = await app.manage('GET', page)
    expect(status, text).toBe(200)
    rows.push(...body.data)
    if (body.next_cursor === null) return rows
    cursor = `&cursor=${body.next_cursor}`
  }
}

/** The rows of an export, without the header, in the order of the first column. */
async function exported(app: TestApp, path: string, header: string): Promise<string[][]> {
  const { text } = await app.manage('GET', path)
  const [first, ...lines] = text.trim().split('\r\n')
  expect(first).toBe(header)
  return lines.map((line) => line.split(',')).sort(byText)
}

const byText = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1)
const timeText = (at: Date | null) => at?.toISOString() ?? null

type Sent = { id: string; name: string; startedAt: Date; recipients: Recipient[] }

const names: EventName[] = [
  ...(['emailOpen', 'emailOpen', 'emailClick', 'emailClick', 'emailComplaint'] as const),
  ...(['contactUnsubscribe', 'emailHardBounce', 'emailSoftBounce'] as const),
]

/** Random events of the emails of a broadcast until four days after its start, and clicks of a scanner. */
function reactionsTo(app: TestApp, random: Seeded, flow: string, { recipients, startedAt }: Sent): NewEvent[] {
  const time = () => new Date(+startedAt + random.int(0, 96 * hourMs))
  const event = (recipient: Recipient, eventName: EventName, occurredAt: Date, url = random.pick(links)) =>
    reactionOf(app, flow, recipient, {
      ...{ eventName, occurredAt, data: dataOf(eventName, url) },
      machine: ['emailOpen', 'emailClick'].includes(eventName) && random.chance(0.3),
    })
  const sent = recipients.filter(({ status }) => status === 'sent')
  const rejected = recipients.filter(({ status }) => status === 'bounced')
  const scanned = new Set([sent[0]!, random.pick(sent), random.pick(sent)])
  return [
    ...sent.flatMap((recipient) =>
      Array.from({ length: random.int(0, 4) }, () => event(recipient, random.pick(names), time())),
    ),
    ...rejected.map((recipient) => event(recipient, random.pick(['emailHardBounce', 'emailSoftBounce']), time())),
    ...[...scanned].flatMap((recipient) => {
      const at = time()
      return links.map((url, index) => ({
        ...event(recipient, 'emailClick', new Date(+at + index * 900), url),
        machine: false,
      }))
    }),
  ]
}

/** Records events in random order and batches, some of them twice. */
async function recordInBatches({ db }: TestApp, random: Seeded, events: readonly NewEvent[]): Promise<void> {
  const given = [...events, ...events.filter(() => random.chance(0.2))]
    .map((event) => ({ event, position: random.next() }))
    .sort((a, b) => a.position - b.position)
    .map(({ event }) => event)
  const recorder = new EventRecorder({ db, stages: new StageRegistry() })
  while (given.length > 0) {
    const batch = given.splice(0, random.int(1, 40))
    if (random.chance(0.5)) await Promise.all(batch.map((event) => recorder.record(event)))
    else await db.begin((tx) => recordEvents(tx, batch))
  }
}

/** Adds recipients that got no email, as if they had been cancelled, suppressed and unsubscribed. */
async function addWithoutEmail({ db }: TestApp, broadcast: string, prefix: string): Promise<void> {
  await db.statement`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, reason)
    select contacts.organization_id, broadcasts.id, contacts.id, state.status, state.reason
    from broadcasts
    join contacts on contacts.organization_id = broadcasts.organization_id
    join (values (0, 'cancelled', null), (1, 'suppressed', 'manual'), (2, 'unsubscribed', 'unsubscribed'))
      as state (number, status, reason) on contacts.email = ${prefix} || lpad(number::text, 5, '0') || '@example.com'
    where broadcasts.name = ${broadcast}`
  await db.statement`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select organization_id, broadcast_id, status, 1 from broadcast_recipients
    where status in ('cancelled', 'suppressed', 'unsubscribed')`
}

/** Makes a broadcast and its emails three days older, so that most of its events are in the past. */
async function makeOlder({ db }: TestApp, name: string): Promise<void> {
  const [broadcast] = await db<{ organizationId: string; id: string; startedAt: Date }>`
    select organization_id, id, started_at from broadcasts where name = ${name}`
  const { organizationId, id, startedAt } = broadcast!
  const messages = await db<{ id: string }>`
    select id from messages where organization_id = ${organizationId} and broadcast_id = ${id}`
  const ids = messages.map((message) => message.id)
  await db.statement`
    update broadcasts set started_at = ${new Date(startedAt.getTime() - 3 * dayMs)}
    where organization_id = ${organizationId} and id = ${id}`
  for (const [table, column] of [
    ['events', 'message_id'],
    ['first_occurrences', 'subject_id'],
    ['messages', 'id'],
    ['broadcast_recipients', 'message_id'],
  ])
    await db.pool.query(
      `update ${table} set ${column} = change.after
      from unnest($2::uuid[], $3::uuid[]) as change (before, after)
      where ${table}.organization_id = $1 and ${table}.${column} = change.before`,
      [organizationId, ids, ids.map(older)],
    )
}

/** The same id with an earlier time. */
function older(id: string): string {
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16) - 3 * dayMs
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`
}

/** Sends two broadcasts whose recipients have every status. */
async function sendBroadcasts(app: TestApp) {
  const { flow, group, create, make } = await fill(app)
  const simulated = ['hard-bounce', 'soft-bounce'].map((name) => `${name}@simulator.waxwing.test`)
  const addresses = emails('reader', 40)
  const groups = [
    await group('First', [...addresses.slice(0, 28), ...simulated]),
    await group('Second', [...addresses.slice(14), ...simulated, 'deferred@simulator.waxwing.test']),
  ]
  const incomplete = await group('Incomplete', ['incomplete@example.com'], {})
  await group('Others', emails('other', 3))
  const variants = [{ subject: 'News for {{ city }}', share: 50 }, { share: 50 }]
  const first = await create([groups[0]!, incomplete], { name: 'First', variants, test_percent: 100 })
  const second = await create([groups[1]!], { name: 'Second' })
  await first.start()
  await second.start()
  await first.ended()
  await until('the emails', async () => {
    const { counts } = await second.get()
    return counts.pending === 0 && counts.queued === 1
  })
  await addWithoutEmail(app, 'First', 'other')
  await makeOlder(app, 'First')
  const sent = await Promise.all(
    Object.entries({ First: first, Second: second }).map(async ([name, { id, get }]): Promise<Sent> => {
      const recipients = await listAll(app, `/organization/broadcasts/${id}/recipients`)
      return { id, name, recipients, startedAt: new Date((await get()).started_at) }
    }),
  )
  const statuses = sent.map(({ recipients }) => new Set(recipients.map(({ status }) => status)))
  expect(statuses).toEqual([
    new Set(['sent', 'bounced', 'failed', 'cancelled', 'suppressed', 'unsubscribed']),
    new Set(['sent', 'bounced', 'queued']),
  ])
  return { flow, make, sent }
}

test('results, lists, exports and segments of broadcasts agree with their events', async () => {
  const random = announcedSeed('engagement')
  await using app = await startTestApp({ MAIL_RETRY_DELAYS: '600' })
  const { db } = app
  const { flow, make, sent } = await sendBroadcasts(app)
  const given = sent.flatMap((broadcast) => reactionsTo(app, random, flow, broadcast))
  // A scanner has clicked the links of its email.
  const erased = sent[0]!.recipients.find(({ status }) => status === 'sent')!
  const half = Math.floor(given.length / 4)
  await recordInBatches(app, random, given.slice(0, half))
  expect((await app.manage('DELETE', `/organization/contacts/${erased.contact_id}`)).status).toBe(200)
  await recordInBatches(app, random, given)
  await addPendingCounts(db)

  // The emails that were rejected have the event of the rejection as well.
  const rejections = sent.flatMap(({ recipients }) =>
    recipients
      .filter(({ status }) => status === 'bounced')
      .map((recipient) => {
        const eventName = recipient.email!.startsWith('hard') ? 'emailHardBounce' : 'emailSoftBounce'
        return reactionOf(app, flow, recipient, { eventName })
      }),
  )
  const events = [...settled(given), ...rejections]
  const read = sent.map(({ recipients, ...broadcast }) => ({
    ...broadcast,
    readers: readersOf(recipients, events).map((reader) =>
      reader.contact_id === erased.contact_id ? { ...reader, email: null } : reader,
    ),
  }))
  for (const broadcast of read) {
    await expectSameRecipients(app, broadcast)
    await expectSameResults(app, broadcast)
  }
  await expectSameMessages(app, flow, read)
  await expectSameFlow(app, flow, read)
  expect((await rebuildCounters(db, { correct: false })).differences).toEqual([])

  const contacts = await listAll<ActiveContact>(app, '/organization/contacts')
  expect(contacts.map(({ id }) => id)).not.toContain(erased.contact_id)
  expectSameActivity(contacts, events)
  await expectSameSegments(app, make, read, new Set(contacts.map(({ id }) => id)))

  // Those of large broadcasts are counted in slices and stored.
  await db.statement`delete from broadcast_results`
  await db.statement`update broadcasts set recipients = 1000000`
  for (const broadcast of read) {
    await until('the stored results', async () => {
      const { body } = await app.manage('GET', `/organization/broadcasts/${broadcast.id}`)
      return body.data.results_counted_at
    })
    await expectSameResults(app, broadcast)
  }
  const path = `/organization/broadcasts/${read[0]!.id}`
  expect((await app.manage('GET', `${path}/recipients?engagement=opened&link=x`)).status).toBe(422)
})

type ActiveContact = { id: string; last_active_at: string | null }

function expectSameActivity(contacts: ActiveContact[], events: NewEvent[]): void {
  for (const { id, last_active_at } of contacts) {
    const reads = events.filter(
      ({ contactId, eventName, machine }) =>
        toText('con', contactId) === id && !machine && ['emailOpen', 'emailClick'].includes(eventName),
    )
    const last = Math.max(...reads.map(({ occurredAt }) => occurredAt.getTime()))
    expect(last_active_at).toBe(reads.length === 0 ? null : new Date(last).toISOString())
  }
}

type Read = { id: string; name: string; startedAt: Date; readers: Reader[] }

async function expectSameRecipients(app: TestApp, { id, readers }: Read): Promise<void> {
  const path = `/organization/broadcasts/${id}/recipients`
  const filters: Record<string, (reader: Reader) => boolean> = { '': () => true }
  for (const [name, matches] of Object.entries(engagements)) filters[`engagement=${name}`] = matches
  for (const url of [...links, 'https://example.com/none'])
    filters[`link=${encodeURIComponent(url)}`] = (reader) => reader.links.includes(url)
  for (const status of ['sent', 'bounced', 'failed', 'queued', 'cancelled', 'suppressed', 'unsubscribed', 'pending'])
    filters[`status=${status}`] = (reader) => reader.status === status
  for (const key of ['A', 'B']) {
    filters[`variant=${key}`] = ({ variant }) => variant === key
    filters[`variant=${key}&engagement=opened`] = ({ variant, openedAt }) => variant === key && openedAt !== null
  }
  const header =
    'contact_id,email,status,engagement,reason,message_id,variant,first_opened_at,first_clicked_at,complained_at,unsubscribed_at,links'
  for (const [query, matches] of Object.entries(filters)) {
    const expected = readers.filter(matches).map((reader) => ({
      ...{ contact_id: reader.contact_id, email: reader.email, status: reader.status },
      ...{ engagement: engagementIn(reader), reason: reader.reason },
      ...{ message_id: reader.message_id, variant: reader.variant },
      first_opened_at: timeText(reader.openedAt),
      first_clicked_at: timeText(reader.clickedAt),
      complained_at: timeText(reader.complainedAt),
      unsubscribed_at: timeText(reader.unsubscribedAt),
      links: reader.links,
    }))
    const listed = await listAll(app, `${path}?${query}`)
    const byContact = (a: { contact_id: string }, b: { contact_id: string }) => (a.contact_id < b.contact_id ? -1 : 1)
    expect(listed.toSorted(byContact), query).toEqual(expected.toSorted(byContact))
    const rows = expected.map((row) => [
      ...Object.values(row)
        .slice(0, -1)
        .map((cell) => cell ?? ''),
      row.links.join(' '),
    ])
    expect(await exported(app, `${path}/export?${query}`, header), query).toEqual(rows.sort(byText))
  }
}

async function expectSameResults(app: TestApp, { id, name, startedAt, readers }: Read): Promise<void> {
  const path = `/organization/broadcasts/${id}`
  const get = async (path: string) => (await app.manage('GET', path)).body.data
  const broadcast = await get(path)
  const totals = totalsOf(readers)
  expect(broadcast.results).toEqual(totals)
  for (const [status, count] of Object.entries(broadcast.counts as Record<string, number>))
    if (status !== 'recipients')
      expect([status, count]).toEqual([status, readers.filter((each) => each.status === status).length])
  expect(broadcast.variants).toMatchObject(name === 'First' ? ['A', 'B'].map((key) => variantOf(readers, key)) : [])
  expect(await get(`${path}/links`)).toEqual(linksOf(readers))
  expect((await get(`${path}/hours`)).hours).toEqual(hoursOf(readers, startedAt))
  const { opened, clicked, complained, unsubscribed } = totals
  const main = { opened, clicked, complained, unsubscribed }
  const [isSent, delivered] = ['sent', 'delivered'].map((each) => readers.filter(engagements[each]!).length)
  expect(await get(`/organization/broadcasts/compare?ids=${id}`)).toMatchObject([
    { id, sent: isSent, delivered, ...main },
  ])
  const list: { id: string; results: object }[] = await get('/organization/broadcasts')
  expect(list.find((each) => each.id === id)!.results).toEqual(main)
}

type ListedMessage = { id: string; engagement: string | null; broadcast: object }

async function expectSameMessages(app: TestApp, flow: string, read: readonly Read[]): Promise<void> {
  const messages = read.flatMap((broadcast) =>
    broadcast.readers.flatMap((reader) => (reader.message_id ? { ...reader, id: reader.message_id, broadcast } : [])),
  )
  const header =
    'id,email,contact_id,subject,flow,broadcast,status,engagement,reason,is_test,queued_at,sent_at,first_opened_at,first_clicked_at'
  for (const filter of [`flow_id=${flow}`, 'is_test=false'])
    for (const [engagement, matches] of Object.entries({ ...engagements, '': () => true })) {
      const query = `${filter}${engagement && `&engagement=${engagement}`}`
      const expected = messages.filter(matches)
      const listed = await listAll<ListedMessage>(app, `/organization/messages?${query}`)
      expect(listed.map((message) => [message.id, message.engagement, message.broadcast]).sort(byText), query).toEqual(
        expected
          .map((each) => [each.id, engagementIn(each), { id: each.broadcast.id, name: each.broadcast.name }])
          .sort(byText),
      )
      const rows = await exported(app, `/organization/messages/export?${query}`, header)
      expect(rows.map((row) => [0, 1, 2, 4, 5, 6, 7, 8, 9, 12, 13].map((column) => row[column]))).toEqual(
        expected
          .map((each) => [
            ...[each.id, each.email ?? '', each.contact_id, 'Newsletter', each.broadcast.name, each.status],
            ...[engagementIn(each) ?? '', each.reason ?? '', 'false'],
            ...[timeText(each.openedAt) ?? '', timeText(each.clickedAt) ?? ''],
          ])
          .sort(byText),
      )
    }
}

async function expectSameFlow(app: TestApp, flow: string, read: readonly Read[]): Promise<void> {
  const readers = read.flatMap((broadcast) => broadcast.readers)
  const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)
  const period = `start_date=${day(-4)}&end_date=${day(5)}&timezone=UTC`
  const path = `/organization/flows/${flow}/results`
  const { totals, days, versions } = (await app.manage('GET', `${path}?${period}`)).body.data
  const figures: Record<string, string> = { complaints: 'complained' }
  const ids: Record<string, string[]> = {}
  for (const figure of ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complaints', 'unsubscribed']) {
    const matching = readers.filter(engagements[figures[figure] ?? figure]!)
    ids[figure] = matching.map(({ message_id: id }) => id!).sort()
    const listed = await listAll<{ message_id: string }>(app, `${path}/messages?${period}&figure=${figure}`)
    expect(listed.map(({ message_id: id }) => id).sort(), figure).toEqual(ids[figure])
  }
  const count = (figure: string) => ids[figure]!.length
  const { hard_bounced: hard, soft_bounced: soft } = totalsOf(readers)
  const emails = { sent: count('sent'), delivered: count('delivered'), bounced: count('bounced') }
  expect(totals).toMatchObject({
    ...emails,
    emailOpen: { unique: count('opened') },
    emailClick: { unique: count('clicked') },
    emailComplaint: { unique: count('complaints') },
    contactUnsubscribe: { unique: count('unsubscribed') },
    emailHardBounce: { unique: hard },
    emailSoftBounce: { unique: soft },
  })
  for (const name of ['sent', 'delivered', 'bounced'])
    expect(days.reduce((sum: number, each: Record<string, number>) => sum + each[name]!, 0)).toBe(totals[name])
  expect(versions).toMatchObject([{ version: 1, sent: emails.sent, bounced: emails.bounced }])
  const [listed] = (await app.manage('GET', `/organization/flows?query=${flow}`)).body.data
  const stats = {
    sent: emails.sent,
    bounces: emails.bounced,
    opens_unique: count('opened'),
    clicks_unique: count('clicked'),
  }
  expect(listed.stats_30d).toEqual(stats)
}

async function expectSameSegments(
  app: TestApp,
  make: (path: string, body: object) => Promise<{ id: string }>,
  read: readonly Read[],
  existing: ReadonlySet<string>,
): Promise<void> {
  const expectContacts = async (filter: object, ids: Iterable<string>) => {
    const expected = [...ids].filter((id) => existing.has(id)).sort()
    const query = encodeURIComponent(JSON.stringify(filter))
    const { body } = await app.manage('GET', `/organization/contacts?limit=100&filter=${query}`)
    expect(body.data.map(({ id }: { id: string }) => id).sort(), JSON.stringify(filter)).toEqual(expected)
    const count = await app.manage('GET', `/organization/contacts/count?filter=${query}`)
    expect(count.body.data).toEqual({ count: expected.length, approximate: false })
  }
  const did = (operator: string, { id, readers }: Read) => ({
    filter: { type: 'broadcast', operator, broadcast_id: id },
    ids: new Set(
      readers.filter(engagements[operator === 'received' ? 'delivered' : operator]!).map(({ contact_id: id }) => id),
    ),
  })
  const [first, second] = read as [Read, Read]
  for (const operator of ['received', 'opened', 'clicked', 'not_opened'])
    for (const broadcast of read) {
      const { filter, ids } = did(operator, broadcast)
      await expectContacts(filter, ids)
    }
  const [a, b] = [did('opened', first), did('not_opened', second)]
  await expectContacts({ type: 'any', conditions: [a.filter, b.filter] }, [...new Set([...a.ids, ...b.ids])])
  await expectContacts(
    { type: 'all', conditions: [a.filter, b.filter] },
    [...a.ids].filter((id) => b.ids.has(id)),
  )
  const segment = await make('/segments', { name: 'Opened', filter: a.filter })
  const member = (operator: string) => ({ type: 'segment', operator, segment_id: segment.id })
  await expectContacts(member('member'), a.ids)
  await expectContacts(
    { type: 'all', conditions: [b.filter, member('not_member')] },
    [...b.ids].filter((id) => !a.ids.has(id)),
  )
}

test('a broadcast is sent again to those who have not opened it when it starts, with another subject', async () => {
  await using app = await startTestApp()
  const { flow, group, create } = await fill(app)
  const addresses = emails('reader', 5)
  const groupId = await group('Readers', addresses)
  const excluded = await group('Excluded', [addresses[4]!])
  const broadcast = await create([groupId])
  const path = `/organization/broadcasts/${broadcast.id}`
  const again = (subject: string) => broadcast.act('send-again', { subject })
  expect((await again('Did you miss this?')).status).toBe(409)
  await broadcast.start()
  await broadcast.ended()
  const recipients = await listAll(app, `${path}/recipients`)
  const open = opener(app, flow)
  await open(recipients[0]!)
  await open(recipients[1]!, true)

  const same = await again(' Hello {{ first_name | default: "there" }}')
  expect([same.status, same.body.error.fields[0].path]).toEqual([422, 'subject'])
  expect((await again('{{ broken')).status).toBe(422)
  const draft = (await again('Did you miss this?')).body.data
  expect(draft).toMatchObject({
    name: 'News, sent again',
    status: 'draft',
    subject: 'Did you miss this?',
    audience: { group_ids: [], segment_ids: [], not_opened_broadcast_id: broadcast.id },
  })
  const draftPath = `/organization/broadcasts/${draft.id}`
  const mixed = { ...draft.audience, group_ids: [groupId] }
  expect((await app.manage('PATCH', draftPath, { audience: mixed })).status).toBe(422)
  const audience = { ...draft.audience, exclude_group_ids: [excluded] }
  expect((await app.manage('PATCH', draftPath, { audience })).status).toBe(200)
  expect((await app.manage('POST', `${draftPath}/check`)).body.data.recipients).toBe(3)

  // One opens and one unsubscribes between the draft and the start.
  await open(recipients[2]!)
  await app.manage('PATCH', `/organization/contacts/${recipients[3]!.contact_id}`, { status: 'unsubscribed' })
  await app.manage('POST', `${draftPath}/start`)
  await until('the second broadcast', async () => (await app.manage('GET', draftPath)).body.data.status === 'sent')
  const second = await listAll(app, `${draftPath}/recipients`)
  expect(second.map(({ contact_id: id }) => id)).toEqual([recipients[1]!.contact_id])
  const message = await app.manage('GET', `/organization/messages/${second[0]!.message_id}`)
  expect(message.body.data.subject).toBe('Did you miss this?')
})
