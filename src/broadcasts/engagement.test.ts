import { expect, test } from 'vitest'
import { emails, fill, opener, reactionOf } from '../../test/support/broadcasts.ts'
import { announcedSeed } from '../../test/support/seeded.ts'
import { startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { rebuildCounters } from '../events/rebuild.ts'
import { type NewEvent, recordEvents } from '../events/record.ts'
import { dayMs } from '../values/durations.ts'
import type { EventName } from '../values/event-types.ts'
import { toText } from '../values/ids.ts'

type Recipient = {
  contact_id: string
  message_id: string
  status: string
  engagement: string | null
  complained_at: string | null
  unsubscribed_at: string | null
  links: string[]
}

type ListedMessage = { contact: { id: string }; engagement: string; broadcast: object }
type ListedContact = { id: string; last_active_at: string | null }

const links = ['https://example.com/news', 'https://example.com/shop']

function dataOf(eventName: EventName, url: string): NewEvent['data'] {
  if (eventName === 'emailClick') return { url }
  if (!eventName.endsWith('Bounce')) return {}
  const type = eventName === 'emailHardBounce' ? 'hard' : 'soft'
  return { bounce: { type, status: null, reply_code: null, reason: 'unknown', diagnostic: null } }
}

/** All pages of a list. */
async function listAll(app: TestApp, path: string): Promise<Recipient[]> {
  const rows: Recipient[] = []
  for (let cursor = ''; ; ) {
    const { status, text, body } = await app.manage('GET', `${path}${path.includes('?') ? '&' : '?'}limit=7${cursor}`)
    expect(status, text).toBe(200)
    rows.push(...body.data)
    if (body.next_cursor === null) return rows
    cursor = `&cursor=${body.next_cursor}`
  }
}

test('results, lists, exports and segments of a broadcast agree with its events', async () => {
  const random = announcedSeed('engagement')
  await using app = await startTestApp()
  const { db } = app
  const { flow, group, create } = await fill(app)
  const groupId = await group('Readers', [...emails('reader', 40), 'hard-bounce@simulator.waxwing.test'])
  const broadcast = await create([groupId])
  await broadcast.start()
  await broadcast.ended()
  const path = `/organization/broadcasts/${broadcast.id}`
  const all = await listAll(app, `${path}/recipients`)
  const bounces: EventName[] = ['emailHardBounce', 'emailSoftBounce']
  const names: EventName[] = [
    'emailOpen',
    'emailOpen',
    'emailClick',
    'emailComplaint',
    'contactUnsubscribe',
    ...bounces,
  ]
  const sent = all.filter(({ status }) => status === 'sent')
  const events = sent.flatMap((recipient): NewEvent[] =>
    Array.from({ length: random.int(0, 3) }, () => {
      const eventName = random.pick(names)
      return reactionOf(app, flow, recipient, {
        eventName,
        occurredAt: new Date(Date.now() + random.int(0, 1_000_000)),
        machine: ['emailOpen', 'emailClick'].includes(eventName) && random.chance(0.4),
        data: dataOf(eventName, random.pick(links)),
      })
    }),
  )
  await db.begin((tx) => recordEvents(tx, events))

  const idsWith = (name: EventName, matches: (event: NewEvent) => boolean = () => true) =>
    new Set(
      events
        .filter((event) => event.eventName === name && !event.machine && matches(event))
        .map(({ contactId }) => toText('con', contactId)),
    )
  const [opened, clicked] = [idsWith('emailOpen'), idsWith('emailClick')]
  // Rejected by the mail server, so it was never sent.
  const rejected = all.filter(({ status }) => status === 'bounced').map(({ contact_id: id }) => id)
  expect(rejected).toHaveLength(1)
  const [hard, soft] = bounces.map((name) => idsWith(name)) as [Set<string>, Set<string>]
  const delivered = sent.map(({ contact_id: id }) => id).filter((id) => !hard.has(id) && !soft.has(id))
  const expected: Record<string, string[]> = {
    sent: all.map(({ contact_id: id }) => id),
    delivered,
    opened: [...opened],
    clicked: [...clicked],
    not_opened: delivered.filter((id) => !opened.has(id) && !clicked.has(id)),
    bounced: [...rejected, ...new Set([...hard, ...soft])],
    complained: [...idsWith('emailComplaint')],
    unsubscribed: [...idsWith('contactUnsubscribe')],
  }
  for (const link of links)
    expected[`clicked&link=${encodeURIComponent(link)}`] = [...idsWith('emailClick', ({ data }) => data.url === link)]

  for (const [engagement, ids] of Object.entries(expected)) {
    const listed = await listAll(app, `${path}/recipients?engagement=${engagement}`)
    expect(listed.map(({ contact_id: id }) => id).toSorted(), engagement).toEqual(ids.toSorted())
    const file = await app.manage('GET', `${path}/recipients/export?engagement=${engagement}`)
    const [header, ...lines] = file.text.trim().split('\r\n')
    expect(header).toBe(
      'contact_id,email,status,engagement,reason,message_id,variant,first_opened_at,first_clicked_at,complained_at,unsubscribed_at,links',
    )
    expect(lines.map((line) => line.split(',')[0]).toSorted(), engagement).toEqual(ids.toSorted())
    for (const row of listed)
      expect(row.links.toSorted()).toEqual(
        links.filter((link) => idsWith('emailClick', ({ data }) => data.url === link).has(row.contact_id)),
      )
  }

  const { results, counts } = await broadcast.get()
  const length = (name: string) => expected[name]!.length
  expect(results).toEqual({
    opened: length('opened'),
    clicked: length('clicked'),
    not_opened: length('not_opened'),
    complained: length('complained'),
    unsubscribed: length('unsubscribed'),
    hard_bounced: rejected.length + hard.size,
    soft_bounced: soft.size,
  })
  expect(counts).toMatchObject({ sent: length('delivered'), bounced: length('bounced') })
  const byUrl = (await app.manage('GET', `${path}/links`)).body.data
  for (const { url, contacts } of byUrl) expect(contacts).toBe(length(`clicked&link=${encodeURIComponent(url)}`))

  const { hours } = (await app.manage('GET', `${path}/hours`)).body.data as { hours: Record<string, number>[] }
  expect(hours.map(({ hour }) => hour)).toEqual(Array.from({ length: 48 }, (_, hour) => hour))
  for (const measure of ['opened', 'clicked'])
    expect(hours.reduce((sum, hour) => sum + hour[measure]!, 0)).toBe(length(measure))
  const compared = (await app.manage('GET', `/organization/broadcasts/compare?ids=${broadcast.id}`)).body.data
  expect(compared).toMatchObject([
    {
      id: broadcast.id,
      sent: all.length,
      delivered: length('delivered'),
      opened: length('opened'),
      clicked: length('clicked'),
      unsubscribed: length('unsubscribed'),
      complained: length('complained'),
    },
  ])

  const ofFlow = `/organization/messages?flow_id=${flow}`
  for (const path of [ofFlow, '/organization/messages?is_test=false'])
    for (const [engagement, ids] of Object.entries(expected).filter(
      ([name]) => name !== 'sent' && !name.includes('&'),
    )) {
      const listed = (await listAll(app, `${path}&engagement=${engagement}`)) as unknown as ListedMessage[]
      expect(listed.map(({ contact }) => contact.id).toSorted(), engagement).toEqual(ids.toSorted())
      const file = await app.manage('GET', `${path.replace('?', '/export?')}&engagement=${engagement}`)
      const lines = file.text.trim().split('\r\n').slice(1)
      expect(lines.map((line) => line.split(',')[2]).toSorted(), engagement).toEqual(ids.toSorted())
    }
  const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)
  const flowPath = `/organization/flows/${flow}/results`
  const period = `start_date=${day(-1)}&end_date=${day(1)}&timezone=UTC`
  const { totals, days } = (await app.manage('GET', `${flowPath}?${period}`)).body.data
  expect(totals).toMatchObject({
    emailSent: { unique: sent.length },
    delivered: length('delivered'),
    emailOpen: { unique: length('opened') },
    emailClick: { unique: length('clicked') },
  })
  expect(days.reduce((sum: number, { delivered }: { delivered: number }) => sum + delivered, 0)).toBe(totals.delivered)
  for (const figure of ['delivered', 'opened', 'clicked', 'unsubscribed']) {
    const listed = (await listAll(app, `${flowPath}/messages?${period}&figure=${figure}`)) as unknown as ListedMessage[]
    expect(listed.map(({ contact }) => contact.id).toSorted(), figure).toEqual(expected[figure]!.toSorted())
  }
  const states = (await listAll(app, ofFlow)) as unknown as ListedMessage[]
  const inOrder = ['bounced', 'complained', 'unsubscribed', 'clicked', 'opened', 'delivered']
  const byContact = new Map(
    (await listAll(app, `${path}/recipients`)).map((recipient) => [recipient.contact_id, recipient]),
  )
  for (const { contact, engagement, broadcast: named } of states) {
    expect(engagement).toBe(inOrder.find((name) => expected[name]!.includes(contact.id)))
    const recipient = byContact.get(contact.id)!
    expect(recipient.engagement).toBe(engagement)
    expect(recipient.complained_at !== null).toBe(expected.complained!.includes(contact.id))
    expect(recipient.unsubscribed_at !== null).toBe(expected.unsubscribed!.includes(contact.id))
    expect(named).toEqual({ id: broadcast.id, name: 'News' })
  }

  const [inList] = (await app.manage('GET', '/organization/broadcasts')).body.data
  const { opened: openedCount, clicked: clickedCount, complained, unsubscribed } = results
  expect(inList.results).toEqual({ opened: openedCount, clicked: clickedCount, complained, unsubscribed })
  expect((await rebuildCounters(db, { correct: false })).differences).toEqual([])

  const contacts = (await listAll(app, `/organization/contacts?group_id=${groupId}`)) as unknown as ListedContact[]
  for (const { id, last_active_at } of contacts) {
    const reads = events.filter(
      ({ contactId, eventName, machine }) =>
        toText('con', contactId) === id && !machine && ['emailOpen', 'emailClick'].includes(eventName),
    )
    const last = Math.max(...reads.map(({ occurredAt }) => occurredAt.getTime()))
    expect(last_active_at).toBe(reads.length === 0 ? null : new Date(last).toISOString())
  }

  const segments = { received: 'delivered', opened: 'opened', clicked: 'clicked', not_opened: 'not_opened' }
  for (const [operator, name] of Object.entries(segments)) {
    const filter = encodeURIComponent(JSON.stringify({ type: 'broadcast', operator, broadcast_id: broadcast.id }))
    const { body } = await app.manage('GET', `/organization/contacts?limit=100&filter=${filter}`)
    expect(body.data.map(({ id }: { id: string }) => id).toSorted(), operator).toEqual(expected[name]!.toSorted())
    const count = await app.manage('GET', `/organization/contacts/count?filter=${filter}`)
    expect(count.body.data).toEqual({ count: length(name), approximate: false })
  }
  expect((await app.manage('GET', `${path}/recipients?engagement=opened&link=x`)).status).toBe(422)
})

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
