import { pino } from 'pino'
import { expect, test } from 'vitest'
import { newFolder, startCommand } from '../../../test/support/command.ts'
import { freePort } from '../../../test/support/service.ts'
import { type Answer, callUrl, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import { register } from '../../accounts/people/accounts.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { demoDomain } from '../../platform/values/simulated-recipients.ts'
import { ensureDemo, removeDemo } from './demo.ts'

const APP_SECRET = 'a secret of at least 32 characters for the demo'
const secrets = { current: APP_SECRET, previous: undefined }
const log = pino({ level: 'silent' })

const signIn = (app: TestApp, account: object) => app.call('POST', '/api/v1/auth/login', { body: account })

/** Returns how many rows of each tenant table belong to an organization. Tables without rows are left out. */
async function countRows({ db }: TestApp, organizationId: string): Promise<Record<string, number>> {
  const tables = await db<{ name: string }>`
    select table_name::text as name from information_schema.columns
    where column_name = 'organization_id' and table_schema = current_schema()`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await db.statement.run<{ count: number }>({
      text: `select count(*) from ${name} where organization_id = $1`,
      values: [parseId('org', organizationId)],
    } as never)
    if (row!.count > 0) counts[name] = row!.count
  }
  return counts
}

async function expectFiguresToAgree(
  app: TestApp,
  organizationId: OrganizationId,
  get: (path: string) => Promise<Answer['body']>,
): Promise<void> {
  const [sent] = await app.db<Record<string, number>>`
    select (select count(*) from messages where organization_id = ${organizationId}) as messages,
      (select count(*) from events where organization_id = ${organizationId} and event_name = 'emailSent') as events,
      (select sum(uniques)::int from event_counters where organization_id = ${organizationId} and event_name = 'emailSent'
        and grain = 'day' and flow_id = '00000000-0000-0000-0000-000000000000') as counted,
      (select count(*) from messages where organization_id = ${organizationId} and status = 'bounced') as bounced,
      (select count(*) from events where organization_id = ${organizationId} and event_name like 'email%Bounce') as bounces`
  expect(sent!.events).toBe(sent!.messages)
  expect(sent!.counted).toBe(sent!.messages)
  expect(sent!.bounced).toBe(sent!.bounces)

  const [wrong] = await app.db<Record<string, number>>`
    select count(*) filter (where messages.queued_at < contacts.created_at) as before_contact,
      count(*) filter (where suppressions.created_at < messages.queued_at
        and (suppressions.reason <> 'unsubscribe' or flows.kind = 'marketing')) as after_leaving,
      count(*) filter (where suppressions.reason = 'unsubscribe' and suppressions.message_id = messages.id
        and flows.kind = 'transactional') as without_link
    from messages
    join contacts on contacts.organization_id = messages.organization_id and contacts.id = messages.contact_id
    join flows on flows.organization_id = messages.organization_id and flows.id = messages.flow_id
    left join suppressions on suppressions.organization_id = messages.organization_id
      and suppressions.email_key = contacts.email_key
    where messages.organization_id = ${organizationId}`
  expect(wrong).toEqual({ beforeContact: 0, afterLeaving: 0, withoutLink: 0 })
  const [early] = await app.db<Record<string, number>>`
    select
      (select count(*) from events join messages on messages.organization_id = events.organization_id
        and messages.id = events.message_id
        where events.organization_id = ${organizationId} and occurred_at < sent_at) as events,
      (select count(*) from broadcasts where organization_id = ${organizationId}
        and (created_at > starts_at or started_at > finished_at or finished_at > now()
          or (status = 'scheduled' and starts_at < now()))) as broadcasts,
      (select count(*) from messages join broadcasts on broadcasts.organization_id = messages.organization_id
        and broadcasts.id = messages.broadcast_id
        where messages.organization_id = ${organizationId} and sent_at not between started_at and finished_at) as messages,
      (select count(*) from suppressions where organization_id = ${organizationId}
        and created_at > now() - interval '1 minute') as suppressions,
      (select count(*) from flows join images on images.organization_id = flows.organization_id
        where flows.organization_id = ${organizationId} and images.created_at > flows.created_at) as images,
      (select count(*) from messages where organization_id = ${organizationId}
        and abs(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::int8 - extract(epoch from queued_at) * 1000) > 60_000
      ) as ids,
      (select count(*) from deliveries where organization_id = ${organizationId}
        and id <> delivery_id(event_id, webhook_id)) as deliveries`
  expect(early).toEqual({ events: 0, broadcasts: 0, messages: 0, suppressions: 0, images: 0, ids: 0, deliveries: 0 })
  const [orders] = await app.db<{ urls: number; clicks: number }>`
    select count(distinct data ->> 'url') as urls, count(*) as clicks from events
    where organization_id = ${organizationId} and event_name = 'emailClick' and data ->> 'url' like '%/orders/%'`
  expect(orders!.urls).toBe(orders!.clicks)

  const broadcasts = await get('/broadcasts')
  expect(broadcasts.map(({ status }: { status: string }) => status)).toEqual(['scheduled', 'sent', 'sent'])
  for (const { id, results: inList } of broadcasts.slice(1)) {
    const { counts, recipients, results } = await get(`/broadcasts/${id}`)
    expect(results).toMatchObject(inList)
    expect(counts.sent + counts.bounced + counts.suppressed + counts.unsubscribed).toBe(recipients)
    const [row] = await app.db<{ messages: number; opened: number }>`
      select count(*) as messages, count(*) filter (where exists (
        select from events where events.organization_id = messages.organization_id and events.message_id = messages.id
          and event_name = 'emailOpen' and not machine)) as opened
      from messages where organization_id = ${organizationId} and broadcast_id = ${parseId('brc', id)!}`
    expect(row!.messages).toBe(counts.sent + counts.bounced)
    expect(row!.opened).toBe(results.opened)
    for (const status of ['bounced', 'suppressed', 'unsubscribed']) {
      const listed: { reason: string | null }[] = await get(`/broadcasts/${id}/recipients?status=${status}&limit=100`)
      const numbers = [status, listed.length, listed.filter(({ reason }) => reason).length]
      expect(numbers).toEqual([status, counts[status], counts[status]])
    }
  }
  const { variants, winner } = await get(`/broadcasts/${broadcasts[1].id}`)
  const [a, b] = variants.map((variant: { opened: number; sent: number }) => variant.opened / variant.sent)
  expect(winner).toBe(b > a ? 'B' : 'A')

  const [imported] = await get('/imports')
  expect(imported).toMatchObject({ status: 'done', created: 42, rejected: 3, rows_done: 45 })
  const [added] = await app.db<{ count: number }>`
    select count(*) from contacts where organization_id = ${organizationId} and created_by_type = 'import'`
  expect(added!.count).toBe(imported.created)
  for (const { id } of await get('/segments'))
    expect((await get(`/contacts/count?segment_id=${id}`)).count).toBeGreaterThan(0)
}

test('the demo has consistent contacts, emails, broadcasts and webhooks of 60 days, and can be removed completely', async () => {
  const baseUrl = 'https://mail.acme.example'
  await using app = await startTestApp({ APP_SECRET, BASE_URL: baseUrl }, ['serve'])
  const ownRows = await countRows(app, app.organizationId)
  const demo = await ensureDemo(app.db, secrets, baseUrl)
  expect(await ensureDemo(app.db, secrets, baseUrl)).toEqual(demo)
  const { account } = demo

  const login = await signIn(app, account)
  expect(login.status).toBe(200)
  const headers = { authorization: `Bearer ${login.body.data.token}` }
  const get = async (path: string) => (await app.call('GET', `/api/v1/organization${path}`, { headers })).body.data
  const webhooks = await get('/webhooks')
  expect(webhooks).toMatchObject([{ name: 'Shop', status: 'active', failing_since: null }])
  const deliveries = await get(`/webhooks/${webhooks[0].id}/deliveries?limit=100`)
  const statuses = new Set(deliveries.map(({ status }: { status: string }) => status))
  expect([...statuses].sort()).toEqual(['delivered', 'failed'])
  const counts = await countRows(app, login.body.data.organization_id)
  expect(counts).toMatchObject({
    contacts: 400,
    flows: 8,
    groups: 3,
    deliveries: 300,
    segments: 2,
    imports: 1,
    broadcasts: 3,
    images: 2,
    brands: 1,
  })
  const picture = (await get('/images')).find(({ name }: { name: string }) => name === 'evening.png')
  const [{ id: sentId }] = await get(`/messages?flow_id=${(await get('/flows?query=New arrivals'))[0].id}&limit=1`)
  expect((await get(`/messages/${sentId}`)).html).toContain(new URL(picture.url).pathname)
  expect(counts.messages).toBeGreaterThan(3_000)
  expect(counts.suppressions).toBeGreaterThan(0)
  // The scheduled broadcast starts later than a week from now.
  expect(counts.jobs).toBe(1)
  const [{ starts_at: startsAt }] = await get('/broadcasts?status=scheduled')
  expect(Date.parse(startsAt)).toBeGreaterThan(Date.now() + 8 * dayMs)
  const [span] = await app.db<{ days: number; future: number }>`
    select count(distinct occurred_at::date) as days, count(*) filter (where occurred_at > now()) as future from events`
  expect(span!.days).toBeGreaterThanOrEqual(60)
  expect(span!.future).toBe(0)

  const found: Record<string, string[]> = {}
  for (const { id, name, status, kind } of await get('/flows')) {
    const { subject, html } = await get(`/flows/${id}${status === 'draft' ? '/draft' : ''}`)
    const context = { order_id: 'A-1001', total: '20.90 €' }
    const preview = await app.call('POST', '/api/v1/organization/flows/preview', {
      headers,
      body: { kind, subject, html, context },
    })
    expect(preview.body.data.problems).toEqual([])
    const findings = preview.body.data.findings.map(({ check }: { check: string }) => check)
    if (findings.length > 0) found[name] = findings
  }
  expect(found).toEqual({ 'Garden weekend': ['subject', 'link', 'alt_text', 'postal_address'] })

  await expectFiguresToAgree(app, parseId('org', login.body.data.organization_id)!, get)

  // Opened again eight days later, the start names the day on which the data ends.
  const organizationId = parseId('org', login.body.data.organization_id)!
  await app.db
    .statement`update organizations set created_at = created_at - interval '8 days' where id = ${organizationId}`
  const { createdAt } = await ensureDemo(app.db, secrets, baseUrl)
  expect(+demo.createdAt - +createdAt).toBe(8 * dayMs)

  expect(await removeDemo(app.db, log)).toBe(true)
  expect(await removeDemo(app.db, log)).toBe(false)
  expect((await signIn(app, account)).status).toBe(401)
  expect(await countRows(app, login.body.data.organization_id)).toEqual({})
  expect(await countRows(app, app.organizationId)).toEqual(ownRows)
})

test('after the removal of a demo that was there first, an organization of the operator takes over', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const operator = () => db<{ name: string }>`select name from organizations where is_operator`
  const password = 'correct horse battery'
  await register(db, 'operator', { organizationName: 'Waxwing demo', email: `demo@${demoDomain}`, password })
  await register(db, 'open', { organizationName: 'Stranger', email: 'stranger@example.com', password })
  await expect(removeDemo(db, log)).rejects.toThrow('create-organization')
  expect(await operator()).toEqual([{ name: 'Waxwing demo' }])

  await register(db, 'operator', { organizationName: 'Acme', email: 'owner@acme.example', password })
  await removeDemo(db, log)
  expect(await operator()).toEqual([{ name: 'Acme' }])
})

test('a recording that does not fit the tables is not imported in part, and the error says what to do', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  await db.statement.script('alter table contacts rename column first_name to given_name')
  await expect(ensureDemo(db, secrets, 'https://mail.acme.example')).rejects.toThrow(
    'The recording of the demo does not fit the tables any more. Run `npm run record-demo`. There is no first_name in contacts.',
  )
  expect(await db`select from groups`).toEqual([])
})

test('start --demo prints the account, and demo remove deletes it while the service runs', async () => {
  using folder = newFolder()
  await using testDb = await createTestDb()
  const port = await freePort()
  const settings = {
    DATABASE_URL: testDb.url,
    DATA_DIR: folder.path,
    PORT: String(port),
    APP_SECRET,
    LOG_LEVEL: 'error',
  }
  await using service = startCommand(['start', '--demo'], settings, { cwd: folder.path })
  let printed = ''
  service.child.stdout!.on('data', (text) => {
    printed += text
  })
  await service.says('waxwing demo remove')
  const [, email, password] = /sign in as (\S+) with the password (\S+)/.exec(printed)!
  const login = () => callUrl('POST', `http://127.0.0.1:${port}/api/v1/auth/login`, { body: { email, password } })
  expect((await login()).status).toBe(200)

  await using remove = startCommand(['demo', 'remove'], settings, { cwd: folder.path })
  expect(await remove.ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The demo organization and its data are deleted\.\nDatabase: postgres:/),
  })
  expect((await login()).status).toBe(401)
})
