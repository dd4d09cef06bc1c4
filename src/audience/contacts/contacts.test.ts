import { expect, test } from 'vitest'
import { eventIdAt } from '../../../test/support/event-world.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { derivedEventId } from '../../events/recording/record.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  type ContactId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
  toText,
} from '../../platform/values/ids.ts'
import { editContact } from './contacts.ts'
import { resubscribe, unsubscribe } from './subscriptions.ts'
import { testRecipientId } from './test-recipient.ts'

const newOrganization = await startSharedApp()

const contacts = '/organization/contacts'

async function otherOrganization(app: TestApp) {
  const registered = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Other', email: 'other@acme.example', password: 'correct horse battery' },
  })
  const headers = { authorization: `Bearer ${registered.body.data.token}` }
  return (method: string, path: string, body?: unknown) => app.call(method, `/api/v1${path}`, { headers, body })
}

test('a created contact is subscribed, belongs to the given groups and can be read', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Friends' })
  const made = await create(app, '/contacts', {
    email: ' Ada@Example.com ',
    first_name: ' Ada ',
    attributes: { tags: ['a'] },
    group_ids: [group.id, group.id],
  })
  expect(made).toMatchObject({
    email: 'Ada@example.com',
    first_name: 'Ada',
    last_name: null,
    attributes: { tags: ['a'] },
    status: 'subscribed',
    groups: [{ id: group.id, name: 'Friends' }],
  })
  expect((await app.manage('GET', `${contacts}/${made.id}`)).body.data).toEqual(made)
})

test('a contact is created without a subscription on request, but not as the member of a group', async () => {
  const app = await newOrganization()
  const made = await create(app, '/contacts', { email: 'ada@example.com', subscription: 'not_subscribed' })
  expect(made.status).toBe('not_subscribed')
  expect((await app.manage('GET', `${contacts}/${made.id}/consents`)).body.data).toEqual([])
  const group = await create(app, '/groups', { name: 'Friends' })
  const refused = await app.manage('POST', contacts, {
    email: 'bob@example.com',
    subscription: 'not_subscribed',
    group_ids: [group.id],
  })
  expect([refused.status, refused.body.error.fields[0].path]).toEqual([422, 'subscription'])
})

test('invalid fields are rejected by name, and an existing address is a conflict', async () => {
  await using app = await startTestApp()
  await create(app, '/contacts', { email: 'ada@example.com' })
  const refused = async (body: object) => {
    const answer = await app.manage('POST', contacts, body)
    return [answer.status, answer.body.error.fields[0]?.path]
  }
  expect(await refused({})).toEqual([422, 'email'])
  expect(await refused({ email: 'nonsense' })).toEqual([422, 'email'])
  expect(await refused({ email: 'b@example.com', first_name: 5 })).toEqual([422, 'first_name'])
  expect(await refused({ email: 'b@example.com', last_name: '\0' })).toEqual([422, 'last_name'])
  expect(await refused({ email: 'b@example.com', attributes: [] })).toEqual([422, 'attributes'])
  expect(await refused({ email: 'b@example.com', attributes: { a: '\0' } })).toEqual([422, 'attributes'])
  expect(await refused({ email: 'ADA@example.com' })).toEqual([409, undefined])
  expect(await refused({ email: 'b@example.com', group_ids: ['grp_nonsense'] })).toEqual([404, undefined])
  expect(await refused({ email: 'b@example.com', group_ids: [toText('grp', newId('grp'))] })).toEqual([404, undefined])
  expect(await app.db`select from contacts`).toHaveLength(1)
})

test('an update keeps omitted fields, clears a name with null and replaces attributes', async () => {
  const app = await newOrganization()
  const { id } = await create(app, '/contacts', {
    email: 'ada@example.com',
    first_name: 'A',
    last_name: 'L',
    attributes: { a: 1 },
  })
  await create(app, '/contacts', { email: 'taken@example.com' })
  const edited = await app.manage('PATCH', `${contacts}/${id}`, {
    email: 'Ada.L@example.com',
    first_name: null,
    attributes: { b: 2 },
  })
  expect(edited.body.data).toMatchObject({
    email: 'Ada.L@example.com',
    first_name: null,
    last_name: 'L',
    attributes: { b: 2 },
  })
  expect((await app.manage('PATCH', `${contacts}/${id}`, { email: 'Taken@example.com' })).status).toBe(409)
  expect((await app.manage('PATCH', `${contacts}/${id}`, { email: 'ADA.l@example.com' })).body.data.email).toBe(
    'ADA.l@example.com',
  )
  expect((await app.manage('PATCH', `${contacts}/${id}`, { status: 'suppressed' })).status).toBe(422)
  expect((await app.manage('PATCH', `${contacts}/con_nonsense`, {})).status).toBe(404)
})

test('the status reflects unsubscribing, resubscribing and suppression, which takes precedence', async () => {
  await using app = await startTestApp()
  const { id } = await create(app, '/contacts', { email: 'ada@example.com' })
  const statusAfter = async (body: object) => (await app.manage('PATCH', `${contacts}/${id}`, body)).body.data.status
  expect(await statusAfter({ status: 'unsubscribed' })).toBe('unsubscribed')
  expect((await app.manage('GET', '/organization/suppressions')).body.data).toMatchObject([
    { email: 'ada@example.com', reason: 'unsubscribe' },
  ])
  expect(await statusAfter({ status: 'subscribed' })).toBe('subscribed')
  expect((await app.manage('GET', '/organization/suppressions')).body.data).toEqual([])

  await app.manage('POST', '/organization/suppressions', { email: 'ADA@example.com' })
  expect(await statusAfter({ status: 'subscribed' })).toBe('suppressed')
  expect(await statusAfter({ status: 'unsubscribed' })).toBe('suppressed')
  await app.db.statement`delete from suppressions where reason = 'manual'`
  expect(await statusAfter({})).toBe('unsubscribed')
})

const actor = { type: 'system', id: null } as const

test('unsubscribing a contact records one event in the same transaction', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId, contactId } = await storeContact(db, 'ada@example.com')
  const unsubscribed = { status: 'unsubscribed' } as const
  await editContact(db, organizationId, contactId, unsubscribed, actor)
  await editContact(db, organizationId, contactId, unsubscribed, actor)
  expect(await db`select event_name, organization_id, contact_id, data from events`).toEqual([
    { eventName: 'contactUnsubscribe', organizationId, contactId, data: { method: 'api' } },
  ])

  await db.by(actor).begin((tx) => resubscribe(tx, organizationId, contactId))
  await db.statement`alter table events rename to events_away`
  await expect(editContact(db, organizationId, contactId, unsubscribed, actor)).rejects.toThrow('events')
  expect(await db`select subscription from contacts`).toEqual([{ subscription: 'subscribed' }])
})

async function storeContact(db: Db, email: string): Promise<{ organizationId: OrganizationId; contactId: ContactId }> {
  const [organizationId, contactId] = [newId('org'), newId('con')]
  await db.statement`insert into organizations (id, name) values (${organizationId}, 'Acme')`
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, subscription)
    values (${organizationId}, ${contactId}, ${email}, ${email}, 'subscribed')`
  return { organizationId, contactId }
}

test('concurrent requests unsubscribe a contact only once', async () => {
  await using testDb = await createTestDb()
  const { organizationId, contactId } = await storeContact(testDb.db, 'ada@example.com')
  const messageId = newId('msg')
  const results = await Promise.all(
    Array.from({ length: 5 }, () => testDb.db.begin((tx) => unsubscribe(tx, organizationId, contactId, messageId))),
  )
  expect(results.filter(Boolean)).toHaveLength(1)
  expect(await testDb.db`select message_id from suppressions`).toEqual([{ messageId }])
  expect(await testDb.db.begin((tx) => unsubscribe(tx, organizationId, newId('con')))).toBe(false)
})

test('an unsubscription follows the contact to a new address, and stays with the old one', async () => {
  const app = await newOrganization()
  const ada = await create(app, '/contacts', { email: 'ada@example.com' })
  await app.manage('PATCH', `${contacts}/${ada.id}`, { status: 'unsubscribed' })
  await app.manage('PATCH', `${contacts}/${ada.id}`, { email: 'ada@new.example' })
  const listed = await app.manage('GET', '/organization/suppressions')
  expect(listed.body.data.map((each: { email: string }) => each.email).sort()).toEqual([
    'ada@example.com',
    'ada@new.example',
  ])
  const bob = await create(app, '/contacts', { email: 'bob@example.com' })
  const renamed = await app.manage('PATCH', `${contacts}/${bob.id}`, { email: 'ada@example.com' })
  expect(renamed.body.data.status).toBe('unsubscribed')
})

test('search matches every word against addresses and names, and wildcards literally', async () => {
  const app = await newOrganization()
  await create(app, '/contacts', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
  await create(app, '/contacts', { email: 'grace_h@navy.example', first_name: 'Grace', last_name: 'Hopper' })
  await create(app, '/contacts', { email: 'anne@example.com', first_name: 'Änne', last_name: 'ÅSTRÖM' })
  const found = async (query: string) => {
    const answer = await app.manage('GET', `${contacts}?query=${encodeURIComponent(query)}`)
    return answer.body.data.map((each: { email: string }) => each.email.split('@')[0])
  }
  expect(await found('LOVE')).toEqual(['ada'])
  expect(await found('example')).toEqual(['anne', 'grace_h', 'ada'])
  expect(await found('  example  hop ')).toEqual(['grace_h'])
  expect(await found('ada hop')).toEqual([])
  expect(await found('ÄNNE')).toEqual(['anne'])
  expect(await found('åström')).toEqual(['anne'])
  expect(await found('Ada@Exam')).toEqual(['ada'])
  expect(await found('da@example')).toEqual([])
  await create(app, '/contacts', { email: 'eva@müller.example' })
  expect(await found('eva@müller.example')).toEqual(['eva'])
  expect(await found('@example.com')).toEqual(['anne', 'ada'])
  expect(await found('_')).toEqual(['grace_h'])
  expect(await found('%')).toEqual([])
  expect(await found('\\')).toEqual([])
  await create(app, '/contacts', { email: 'oya@example.com', last_name: 'Ülkü-Özil' })
  expect(await found('ülkü-özil')).toEqual(['oya'])
  expect(await found('\0')).toEqual(['oya', 'eva', 'anne', 'grace_h', 'ada'])
})

test('pages return every contact once, newest first, also by group and by status', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Half' })
  const members = Array.from({ length: 25 }, (_, i) => ({ email: `m${String(i).padStart(2, '0')}@example.com` }))
  await app.publicApi('POST', '/contacts/add-group-members', { group_id: group.id, members })
  for (let i = 0; i < 5; i++) await create(app, '/contacts', { email: `n${i}@example.com` })
  await app.manage('POST', '/organization/suppressions', { email: 'm07@example.com' })
  const [first] = (await app.manage('GET', `${contacts}?query=m03@`)).body.data
  await app.manage('PATCH', `${contacts}/${first.id}`, { status: 'unsubscribed' })

  const all = async (filter: string) => {
    const emails: string[] = []
    let cursor = ''
    do {
      const answer = await app.manage('GET', `${contacts}?limit=7&${filter}&cursor=${cursor}`)
      expect(answer.body.data.length).toBeLessThanOrEqual(7)
      emails.push(...answer.body.data.map((each: { email: string }) => each.email))
      cursor = answer.body.next_cursor ?? ''
    } while (cursor)
    return emails
  }
  const everyone = await all('')
  expect(everyone).toHaveLength(30)
  expect(new Set(everyone).size).toBe(30)
  expect(everyone.slice(0, 5)).toEqual([4, 3, 2, 1, 0].map((i) => `n${i}@example.com`))
  expect((await all(`group_id=${group.id}`)).sort()).toEqual(members.map(({ email }) => email))
  expect(await all('status=suppressed')).toEqual(['m07@example.com'])
  expect(await all(`status=unsubscribed&group_id=${group.id}`)).toEqual(['m03@example.com'])
  expect(await all('status=subscribed')).toHaveLength(28)
  expect(await all('status=not_subscribed')).toEqual([])
  expect(await all('group_id=grp_nonsense')).toEqual([])
})

test('an invalid limit, cursor or status is rejected by name', async () => {
  const app = await newOrganization()
  const wrong = { limit: ['0', '101', 'x', '1.5'], cursor: ['x', 'WyJ4Il0', 'W10', 'bnVsbA'], status: ['gone'] }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const answer = await app.manage('GET', `${contacts}?${name}=${value}`)
      expect([name, value, answer.status, answer.body.error?.fields[0]?.path]).toEqual([name, value, 422, name])
    }
})

/** Two messages to a contact: one that was opened, with everything that names the person, and one that waits. */
async function storeHistory(db: Db, organizationText: string, contactText: string, name = 'Ada') {
  const email = `${name.toLowerCase()}@example.com`
  const organizationId = parseId('org', organizationText)!
  const contactId = parseId('con', contactText)!
  const [flowId, versionId, webhookId] = [newId('flw'), newId('flv'), newId('whk')]
  const [sentId, waitingId, openId, bounceId] = [newId('msg'), newId('msg'), newId('evt'), newId('evt')]
  await db.statement`
    insert into flows (organization_id, id, name, kind, version_id)
    values (${organizationId}, ${flowId}, 'Welcome', 'transactional', ${versionId})`
  await db.statement`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, status,
      relay_reply)
    values (${organizationId}, ${sentId}, ${flowId}, ${versionId}, ${contactId}, ${email}, ${`Dear ${name}`},
      '{"order": 7}', 'sent', ${`250 for ${email}`}),
      (${organizationId}, ${waitingId}, ${flowId}, ${versionId}, ${contactId}, ${email}, ${`Soon, ${name}`},
      null, 'queued', null)`
  await db.statement`
    insert into inbox (organization_id, message_id, sender, recipient, subject, raw)
    values (${organizationId}, ${sentId}, 'us@acme.example', ${email}, ${`Dear ${name}`}, ${Buffer.from(`Dear ${name}`)})`
  await db.statement`
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine, data)
    values (${organizationId}, ${openId}, 'emailClick', now(), ${sentId}, ${flowId}, ${contactId}, true,
      ${JSON.stringify({ ip: '192.0.2.1', user_agent: `${name}’s`, url: `https://example.com/?who=${name.toLowerCase()}` })}::jsonb),
      (${organizationId}, ${bounceId}, 'emailSoftBounce', now(), ${sentId}, ${flowId}, ${contactId}, false,
      ${JSON.stringify({ bounce: { reason: 'mailbox full', diagnostic: `${email} is full`, evidence: `${email} is full` } })}::jsonb)`
  await db.statement`
    insert into webhooks (organization_id, id, name, url, all_events, event_types, secret)
    values (${organizationId}, ${webhookId}, 'Ours', 'https://acme.example', true, '{}', '')`
  await db.statement`
    insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, body)
    values (${organizationId}, delivery_id(${openId}, ${webhookId}), ${webhookId}, ${openId}, 'emailClick', 'pending',
      ${JSON.stringify({ contact: email })})`
  await db.statement`
    insert into delivery_attempts
      (organization_id, delivery_id, number, at, duration_ms, outcome, reason, signature, response_body)
    values (${organizationId}, delivery_id(${openId}, ${webhookId}), 1, now(), 1, 'refused', '', '', ${`No ${email}`})`
  return { flowId, sentId, waitingId, openId, bounceId }
}

/** A contact with an email that was clicked and bounced later, and one that waits. */
async function storeTimeline(app: TestApp) {
  const ada = await create(app, '/contacts', { email: 'ada@example.com' })
  const { flowId, sentId, waitingId, openId, bounceId } = await storeHistory(app.db, app.organizationId, ada.id)
  const [queued] = await app.db<{ at: Date }>`
    select queued_at as at from messages where organization_id = ${parseId('org', app.organizationId)!} limit 1`
  // The id of a bounce contains the time of its message, however late the bounce arrives.
  const later = (minutes: number) => new Date(queued!.at.getTime() + minutes * 60_000)
  const [clickId, lateId] = [eventIdAt(later(1)), derivedEventId(sentId, 'emailSoftBounce')]
  await app.db.statement`update events set occurred_at = ${later(1)}, id = ${clickId} where id = ${openId}`
  await app.db.statement`update events set occurred_at = ${later(60)}, id = ${lateId} where id = ${bounceId}`
  return {
    ...{ ada, later, queuedAt: queued!.at, flow_id: toText('flw', flowId) },
    ...{ message_id: toText('msg', sentId), waiting_id: toText('msg', waitingId) },
    ...{ click_id: toText('evt', clickId), late_id: toText('evt', lateId) },
  }
}

test('the timeline shows messages and events, newest first, in pages', async () => {
  const app = await newOrganization()
  const { ada, later, queuedAt, flow_id, message_id, waiting_id, click_id, late_id } = await storeTimeline(app)
  const first = await app.manage('GET', `${contacts}/${ada.id}/timeline?limit=4`)
  const second = await app.manage('GET', `${contacts}/${ada.id}/timeline?limit=4&cursor=${first.body.next_cursor}`)
  const noChange = { change: null, subscribed: null, fields: null, reasons: null, group: null, actor: null }
  const noCard = { engagement: null, broadcast: null, events: [] }
  const shared = { flow_id, flow_name: 'Welcome', evidence: null, ...noCard, ...noChange }
  expect([...first.body.data, ...second.body.data]).toEqual([
    {
      ...shared,
      at: later(60).toISOString(),
      kind: 'event',
      event_name: 'emailSoftBounce',
      event_id: late_id,
      message_id,
      subject: 'Dear Ada',
      status: null,
      machine: false,
      detail: 'mailbox full',
      evidence: 'ada@example.com is full',
    },
    {
      ...shared,
      at: later(1).toISOString(),
      kind: 'event',
      event_name: 'emailClick',
      event_id: click_id,
      message_id,
      subject: 'Dear Ada',
      status: null,
      machine: true,
      detail: 'https://example.com/?who=ada',
    },
    {
      ...shared,
      at: queuedAt.toISOString(),
      kind: 'message',
      event_name: null,
      event_id: null,
      message_id: waiting_id,
      subject: 'Soon, Ada',
      status: 'queued',
      machine: false,
      detail: null,
    },
    {
      ...shared,
      at: queuedAt.toISOString(),
      kind: 'message',
      event_name: null,
      event_id: null,
      message_id,
      subject: 'Dear Ada',
      status: 'sent',
      machine: false,
      detail: null,
    },
    expect.objectContaining({
      kind: 'change',
      change: 'created',
      at: ada.created_at,
      subscribed: true,
      actor: { type: 'user', id: expect.stringMatching(/^usr_/), name: 'owner@acme.example', ip: null },
    }),
  ])
  expect(second.body.next_cursor).toBe(null)
})

test('the timeline by message shows the events of each message together', async () => {
  const app = await newOrganization()
  const { ada, message_id, waiting_id, click_id, late_id } = await storeTimeline(app)
  const { data: cards } = (await app.manage('GET', `${contacts}/${ada.id}/timeline?by_message=true`)).body
  expect(cards.map(({ kind, message_id }: Record<string, string>) => [kind, message_id])).toEqual([
    ['message', waiting_id],
    ['message', message_id],
    ['change', null],
  ])
  expect(cards[0]).toMatchObject({ engagement: null, events: [] })
  expect(cards[1]).toMatchObject({ engagement: 'delivered', broadcast: null })
  expect(cards[1].events).toMatchObject([
    { id: click_id, event_name: 'emailClick', machine: true },
    { id: late_id, event_name: 'emailSoftBounce', machine: false },
  ])
})

test('every page of the timeline continues after the previous one, whatever its last entry', async () => {
  await using app = await startTestApp({}, ['serve'])
  const ada = await create(app, '/contacts', { email: 'ada@example.com' })
  const [organizationId, contactId] = [parseId('org', app.organizationId)!, parseId('con', ada.id)!]
  const startMs = Date.now()
  // Three messages within a minute, each with events before it, with it and much later.
  const messages = [0, 1, 2].map((minute) => ({
    id: eventIdAt(new Date(startMs + minute * 60_000)) as string as MessageId,
    minute,
  }))
  await app.db.statement`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, status, queued_at)
    select ${organizationId}, id, id, id, ${contactId}, '', '', 'sent', at
    from unnest(${messages.map(({ id }) => id)}::uuid[],
      ${messages.map(({ minute }) => new Date(startMs + minute * 60_000))}::timestamptz[]) as message (id, at)`
  const events = messages.flatMap(({ id, minute }) =>
    [-1, 0, 1, 90_000].map((afterMs) => ({
      id: derivedEventId(id, String(afterMs)),
      at: new Date(startMs + minute * 60_000 + afterMs),
    })),
  )
  await app.db.statement`
    insert into events (organization_id, id, event_name, occurred_at, contact_id)
    select ${organizationId}, id, 'emailSoftBounce', at, ${contactId}
    from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ at }) => at)}::timestamptz[]) as event (id, at)`

  type Entry = { at: string; event_id: string | null; message_id: string | null }
  for (const limit of [1, 2, 4, 7]) {
    const seen: Entry[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await app.manage('GET', `${contacts}/${ada.id}/timeline?limit=${limit}&cursor=${cursor}`)
      seen.push(...body.data)
      cursor = body.next_cursor
    }
    const times = seen.map(({ at }) => at)
    expect(times).toEqual([...times].sort().reverse())
    expect(new Set(seen.map(({ event_id, message_id }) => event_id ?? message_id)).size).toBe(16)
    expect(seen).toHaveLength(16)
  }
})

/** Every row that contains personal data of a person with this name. */
async function rowsAbout({ db }: TestApp, name: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const table of [
    ...['contacts', 'messages', 'inbox', 'events', 'deliveries', 'delivery_attempts', 'import_problems'],
    ...['contact_history', 'import_changes', 'group_members', 'jobs', 'imports'],
  ]) {
    const { rows } = await db.pool.query(`select to_jsonb(t)::text as row from ${table} as t`)
    // Ids and signatures are hexadecimal, and about one in a hundred contains "ada".
    const texts: string[] = rows.map(({ row }) => row.replace(/[\da-f-]{32,}/g, ''))
    found.push(...texts.filter((text) => name.test(text)).map((text) => `${table} ${text}`))
  }
  return found.sort()
}

test('erasing a contact removes all its personal data but its suppression, nothing of others, and keeps counts', async () => {
  await using app = await startTestApp()
  const organizationId = parseId('org', app.organizationId)!
  const group = await create(app, '/groups', { name: 'G' })
  const [ada, bob] = [
    await create(app, '/contacts', { email: 'ada@example.com', first_name: 'Ada', group_ids: [group.id] }),
    await create(app, '/contacts', { email: 'bob@example.com', first_name: 'Bob', group_ids: [group.id] }),
  ]
  for (const [id, name] of [
    [ada.id, 'Ada'],
    [bob.id, 'Bob'],
  ]) {
    const email = `${name}@example.com`
    await storeHistory(app.db, app.organizationId, id, name)
    await app.manage('PATCH', `${contacts}/${id}`, { last_name: 'L' })
    await app.db.statement`
      insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, status)
      values (${organizationId}, ${newId('msg')}, ${newId('flw')}, ${newId('flv')},
        ${testRecipientId(organizationId, email.toLowerCase())}, ${email}, ${`Test for ${name}`}, 'sent')`
    await app.db.statement`
      insert into import_problems (organization_id, import_id, line, email, problem, cells)
      values (${organizationId}, ${newId('imp')}, 1, ${email}, 'too long', null),
        (${organizationId}, ${newId('imp')}, 2, null, 'too long', ${JSON.stringify([email, 'x'])}::jsonb)`
    await app.db.statement`
      insert into import_changes (organization_id, import_id, id, contact_id, change)
      values (${organizationId}, ${newId('imp')}, ${newId('evt')}, ${parseId('con', id)},
        ${JSON.stringify({ first_name: [name, 'A'] })}::jsonb)`
  }
  await app.manage('POST', '/organization/suppressions', { email: 'ada@example.com' })
  const about = await rowsAbout(app, /bob/i)

  expect((await app.manage('DELETE', `${contacts}/${ada.id}`)).body.data).toBe(null)

  expect(await rowsAbout(app, /ada/i)).toEqual([])
  expect(await rowsAbout(app, /bob/i)).toEqual(about)
  const id = parseId('con', ada.id)
  expect(await app.db`select from contact_history where contact_id = ${id}`).toEqual([])
  expect(await app.db`select from contact_history`).not.toEqual([])
  expect((await app.manage('GET', '/organization/suppressions')).body.data).toMatchObject([
    { email: 'ada@example.com' },
  ])
  expect(await app.db`select status, reason from messages where contact_id = ${id} order by id`).toEqual([
    { status: 'sent', reason: null },
    { status: 'suppressed', reason: 'the contact was erased' },
  ])
  expect(await app.db`select event_name, data from events where contact_id = ${id} order by id`).toEqual([
    { eventName: 'emailClick', data: {} },
    { eventName: 'emailSoftBounce', data: { bounce: { reason: 'mailbox full' } } },
  ])
  expect((await app.manage('GET', `${contacts}/${ada.id}`)).status).toBe(404)
  expect((await app.manage('DELETE', `${contacts}/${ada.id}`)).status).toBe(404)
  expect((await app.manage('GET', `/organization/groups/${group.id}`)).body.data.member_count).toBe(1)
})

test('the timeline shows who made each change to a contact', async () => {
  await using app = await startTestApp()
  const group = await create(app, '/groups', { name: 'News' })
  await app.call('POST', '/public/api/v1/contacts/add-group-members', {
    headers: { 'x-api-token': app.apiKey },
    body: { group_id: group.id, members: [{ email: 'ada@example.com' }] },
  })
  const [ada] = (await app.manage('GET', `${contacts}?query=ada`)).body.data
  await app.manage('PATCH', `${contacts}/${ada.id}`, { first_name: 'Ada', attributes: { plan: 'pro' } })
  await app.manage('PATCH', `${contacts}/${ada.id}`, { first_name: 'Ada' })
  await app.manage('PATCH', `${contacts}/${ada.id}`, { status: 'unsubscribed' })
  await app.manage('PATCH', `${contacts}/${ada.id}`, { status: 'subscribed' })
  await app.manage('DELETE', `/organization/groups/${group.id}/members/${ada.id}`)
  await create(app, '/suppressions', { email: 'ada@example.com' })
  await create(app, '/suppressions', { email: 'ada@example.com' })
  await app.manage('DELETE', '/organization/suppressions/ada@example.com')

  const entries = (await app.manage('GET', `${contacts}/${ada.id}/timeline`)).body.data as Record<string, never>[]
  const owner = expect.objectContaining({ type: 'user', name: 'owner@acme.example' })
  const key = expect.objectContaining({ type: 'api_key', id: expect.stringMatching(/^key_/), name: expect.any(String) })
  const inGroup = { id: group.id, name: 'News' }
  expect(entries.map(({ change, event_name }) => change ?? event_name)).toEqual([
    'unsuppressed',
    'suppressed',
    'group_removed',
    'subscribed',
    'contactUnsubscribe',
    'edited',
    'group_added',
    'created',
  ])
  expect(entries).toMatchObject([
    { actor: owner, reasons: ['manual'] },
    { actor: owner, reasons: ['manual'] },
    { actor: owner, group: inGroup },
    { actor: owner },
    { actor: owner, detail: 'api' },
    { actor: owner, fields: ['first_name', 'attributes'] },
    { actor: key, group: inGroup },
    { actor: key },
  ])

  await app.manage('DELETE', `${contacts}/${ada.id}`)
  expect(await app.db`select from contact_history`).toHaveLength(0)
})

test('the history of a contact is bounded', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId, contactId } = await storeContact(db, 'ada@example.com')
  await db.statement`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type)
    select ${organizationId}, ${contactId}, now() - n * interval '1 minute', gen_random_uuid(), 'edited', 'system'
    from generate_series(1, 1200) as n`
  await db.begin((tx) => unsubscribe(tx, organizationId, contactId))
  await db.by(actor).begin((tx) => resubscribe(tx, organizationId, contactId))
  const [kept] = await db<{ count: number; newest: string }>`
    select count(*), (array_agg(type order by at desc))[1] as newest from contact_history`
  expect(kept).toEqual({ count: 1000, newest: 'subscribed' })
})

test('another organization cannot read, edit or erase a contact', async () => {
  const app = await newOrganization()
  const ada = await create(app, '/contacts', { email: 'ada@example.com' })
  const manageTheirs = await otherOrganization(app)
  expect((await manageTheirs('GET', `${contacts}?query=ada`)).body.data).toEqual([])
  const tries: [string, string, unknown?][] = [
    ['GET', `${contacts}/${ada.id}`],
    ['GET', `${contacts}/${ada.id}/timeline`],
    ['PATCH', `${contacts}/${ada.id}`, { first_name: 'Eve' }],
    ['DELETE', `${contacts}/${ada.id}`],
  ]
  for (const [method, path, body] of tries) expect((await manageTheirs(method, path, body)).status).toBe(404)
  expect((await app.manage('GET', `${contacts}/${ada.id}`)).body.data).toEqual(ada)
})

test('search ignores accents and case, and finds a contact by its id', async () => {
  await using app = await startTestApp({}, ['serve'])
  const people = {
    jose: 'José Ñuñez',
    lukasz: 'Łukasz Łódź',
    asa: 'Åsa Sørensen',
    strauss: 'Anna Strauß',
    duro: 'Đuro Þórðarson',
    aeon: 'Æon Cœur',
    isil: 'Işıl İnan',
    zhanna: 'Жанна Йорк',
    ann: 'Ann Lee',
    // As some systems write it: the letter and its accent apart.
    rene: 'Rene\u0301 Dupont',
  }
  const ids: Record<string, string> = {}
  for (const [local, name] of Object.entries(people)) {
    const [first_name, last_name] = name.split(' ')
    ids[local] = (
      await create(app, '/contacts', { email: `p${Object.keys(ids).length}@example.com`, first_name, last_name })
    ).id
  }
  const found = async (query: string) => {
    const { body } = await app.manage('GET', `${contacts}?query=${encodeURIComponent(query)}`)
    return body.data.map(({ id }: { id: string }) => Object.keys(ids).find((local) => ids[local] === id))
  }
  for (const [query, local] of [
    ['jose nunez', 'jose'],
    ['JOSÉ', 'jose'],
    ['lodz', 'lukasz'],
    ['ŁÓDŹ', 'lukasz'],
    ['asa sorensen', 'asa'],
    ['strauss', 'strauss'],
    ['STRAUẞ', 'strauss'],
    ['duro', 'duro'],
    ['aeon coeur', 'aeon'],
    ['isil inan', 'isil'],
    ['жанна йорк', 'zhanna'],
    ['lée', 'ann'],
    ['René', 'rene'],
    ['rene', 'rene'],
    [ids.ann!, 'ann'],
    [`  ${ids.jose!.toUpperCase()} `, 'jose'],
  ] as const)
    expect([query, await found(query)]).toEqual([query, [local]])
  // An edited name is found by its new spelling only.
  await app.manage('PATCH', `${contacts}/${ids.jose}`, { first_name: 'Zoë' })
  expect([await found('jose'), await found('zoe')]).toEqual([[], ['jose']])
})

test('search finds Unicode domains', async () => {
  const app = await newOrganization()
  for (const email of ['idn@exämple.org', 'other@example.org'])
    await app.manage('POST', '/organization/contacts', { email })
  for (const query of ['exämple', 'EXÄMPLE.org', 'idn@exämple', 'idn@exämple.org', 'xn--exmple-cua']) {
    const { body } = await app.manage('GET', `/organization/contacts?query=${encodeURIComponent(query)}`)
    expect([query, body.data.length, body.data[0]?.email]).toEqual([query, 1, expect.stringMatching(/^idn@/)])
  }
})

test('the attributes of contacts are listed with the type of most values, also those of a few among many contacts', async () => {
  await using app = await startTestApp({}, ['serve'])
  const attributes = async (person: Pick<TestApp, 'manage'> = app) =>
    (await person.manage('GET', `${contacts}/attributes`)).body.data
  expect(await attributes()).toEqual([])

  const organizationId = parseId('org', app.organizationId) as OrganizationId
  await insertContacts(app.db, organizationId, 3_000, { plan: 'pro', seats: 3, born: '1990-02-28', trial: true })
  await insertContacts(app.db, organizationId, 2_900)
  await insertContacts(app.db, organizationId, 100, { seats: '4', tags: ['a'], 'a "b"': null })
  expect(await attributes()).toEqual([
    { name: 'seats', type: 'number' },
    { name: 'born', type: 'date' },
    { name: 'plan', type: 'text' },
    { name: 'trial', type: 'boolean' },
    { name: 'a "b"', type: 'text' },
    { name: 'tags', type: 'list' },
  ])
  expect(await attributes(await registerOther(app))).toEqual([])
})

async function insertContacts(db: Db, organizationId: OrganizationId, count: number, attributes = {}): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('con'))
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, subscription, attributes)
    select ${organizationId}, id, id || '@example.com', id || '@example.com', 'subscribed',
      ${JSON.stringify(attributes)}::jsonb
    from unnest(${ids}::uuid[]) as id`
}
