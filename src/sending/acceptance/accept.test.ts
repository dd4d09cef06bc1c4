import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { lockWaits, terminateLockWaits } from '../../../test/support/lock-waits.ts'
import { anySender } from '../../../test/support/senders.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { BuiltInFlows } from '../../content/flows/built-in-flows.ts'
import { TemplateCache } from '../../content/flows/template-cache.ts'
import { TemplateRunner } from '../../content/flows/template-runner.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { TaskPool } from '../../platform/tasks/pool.ts'
import { parseId } from '../../platform/values/ids.ts'
import { Uploads } from '../attachments/uploads.ts'
import { Acceptor } from './accept.ts'
import { NewOrganizationQuota } from './new-organization-quota.ts'
import type { NewEmail, Submission } from './submission.ts'

const newApp = await startSharedApp({}, ['serve'])
const organizationOf = ({ organizationId }: TestApp) => parseId('org', organizationId)!

const messagesOf = (app: TestApp) => app.db<{ status: string; subject: string; flowVersionId: string }>`
  select status, subject, flow_version_id from messages where organization_id = ${organizationOf(app)} order by id`
const contactsOf = (app: TestApp) => app.db<{ email: string; subscription: string }>`
  select email, subscription from contacts where organization_id = ${organizationOf(app)}`

/** Another organization with an active flow, and the header of its API key. */
async function createOther() {
  const other = await newApp()
  return { other, flowId: await createFlow(other), theirKey: { 'x-api-token': other.apiKey } }
}

test('a send stores a message, and an unknown contact is created without groups', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const answer = await send(app, flowId, { contact_email: ' Ada@EXAMPLE.com ' })
  expect(answer.status).toBe(200)
  expect(answer.body.data).toMatchObject({
    flow_id: flowId,
    contact_email: 'Ada@example.com',
    contact_created: true,
    status: 'queued',
    reason: null,
    warnings: [],
  })
  expect(answer.body.data.message_id).toMatch(/^msg_/)
  expect(await messagesOf(app)).toMatchObject([{ status: 'queued', subject: 'Order 1042 is on its way' }])
  expect(await contactsOf(app)).toMatchObject([{ subscription: 'not_subscribed' }])
  expect(await app.db`select kind from jobs where organization_id = ${organizationOf(app)}`).toEqual([
    { kind: 'message.send' },
  ])

  const again = await send(app, flowId, { contact_email: 'ada@example.com' })
  expect(again.body.data).toMatchObject({
    contact_created: false,
    contact_id: answer.body.data.contact_id,
    contact_email: 'Ada@example.com',
  })
})

test('missing variables are listed, and unused context keys are warnings', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const missing = await send(app, flowId, { context: {} })
  expect(missing.status).toBe(422)
  expect(missing.body.error).toMatchObject({ type: 'missing_variables', fields: [{ path: 'context.order_id' }] })
  expect(missing.body.message).toBe('The template requires order_id. Add it to the context.')
  const several = await createFlow(app, { html: '{{ a }} {{ b.c }} {{ context.d }} {{ contact.first_name }}' })
  const { message, error } = (await send(app, several, { context: {} })).body
  expect(message).toBe(
    'The template requires order_id, a, b.c, and context.d. Add them to the context. The contact has no contact.first_name. Set it on the contact, or add a default to the template.',
  )
  expect(error.fields.map((field: { path: string }) => field.path)).toEqual([
    'context.order_id',
    'context.a',
    'context.b.c',
    'context.d',
    'contact.first_name',
  ])
  expect(await messagesOf(app)).toEqual([])
  const unused = await send(app, flowId, { context: { order_id: 1, colour: 'red' } })
  expect(unused.body.data.warnings).toEqual(['The template does not use the context key "colour".'])
  await app.manage('POST', '/organization/contacts', { email: 'grace@example.com', attributes: { order_id: 7 } })
  expect((await send(app, flowId, { contact_email: 'grace@example.com', context: {} })).status).toBe(200)
})

test('unknown, foreign and inactive flows are rejected', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const { theirKey } = await createOther()
  expect((await send(app, flowId, {}, theirKey)).status).toBe(404)
  expect((await send(app, 'flw_nothing')).status).toBe(404)
  await app.manage('PATCH', `/organization/flows/${flowId}`, { status: 'paused' })
  const paused = await send(app, flowId)
  expect([paused.status, paused.body.error.type]).toEqual([409, 'flow_not_active'])
  expect(await contactsOf(app)).toEqual([])
})

test('requests with a flow of another organization do not affect the requests of its owner', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const { theirKey } = await createOther()
  // The requests of the owner come first and those of the others last in a batch.
  const calls = Array.from({ length: 40 }, (_, n) => send(app, flowId, {}, n < 20 ? {} : theirKey))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses).toEqual([...Array(20).fill(200), ...Array(20).fill(404)])
})

test('a changed flow applies to the next send, and an accepted message keeps its version', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  await send(app, flowId)
  await app.manage('PATCH', `/organization/flows/${flowId}`, { subject: 'New {{ order_id }}' })
  await send(app, flowId)
  expect(await messagesOf(app)).toMatchObject([{ subject: 'Order 1042 is on its way' }, { subject: 'New 1042' }])
  expect(new Set((await messagesOf(app)).map(({ flowVersionId }) => flowVersionId)).size).toBe(2)
})

test('a send to a suppressed contact stores a message with the reason and sends no email', async () => {
  const app = await newApp()
  const transactional = await createFlow(app)
  const marketing = await createFlow(app, { kind: 'marketing' })
  const reasonOf = async (flowId: string, email: string) => {
    const { body } = await send(app, flowId, { contact_email: email })
    return [body.data.status, body.data.reason]
  }
  await send(app, transactional, { contact_email: 'known@example.com' })
  for (const reason of ['hard_bounce', 'complaint', 'manual'])
    await app.db
      .statement`insert into suppressions (organization_id, email_key, reason, email) values (${organizationOf(app)}, ${`${reason}@example.com`}, ${reason}, 'x')`

  expect(await reasonOf(transactional, 'HARD_bounce@example.com')).toEqual(['suppressed', 'hard_bounce'])
  expect(await reasonOf(transactional, 'complaint@example.com')).toEqual(['suppressed', 'complaint'])
  expect(await reasonOf(marketing, 'manual@example.com')).toEqual(['suppressed', 'manual'])
  expect(await reasonOf(marketing, 'known@example.com')).toEqual(['suppressed', 'not_subscribed'])
  await app.db
    .statement`update contacts set subscription = 'unsubscribed' where organization_id = ${organizationOf(app)} and email_key = 'known@example.com'`
  expect(await reasonOf(marketing, 'known@example.com')).toEqual(['suppressed', 'unsubscribed'])
  expect(await reasonOf(transactional, 'known@example.com')).toEqual(['queued', null])
  await app.db
    .statement`update contacts set subscription = 'subscribed' where organization_id = ${organizationOf(app)} and email_key = 'known@example.com'`
  expect(await reasonOf(marketing, 'known@example.com')).toEqual(['queued', null])
  expect((await messagesOf(app)).filter(({ status }) => status === 'suppressed')).toHaveLength(5)
})

test('a contact that unsubscribed and was erased is created as unsubscribed by a send', async () => {
  const app = await newApp()
  const transactional = await createFlow(app)
  const marketing = await createFlow(app, { kind: 'marketing' })
  const group = await app.manage('POST', '/organization/groups', { name: 'Customers' })
  const people = ['ada@example.com', 'bob@example.com']
  for (const email of people) {
    const { body } = await app.manage('POST', '/organization/contacts', { email })
    await app.manage('PATCH', `/organization/contacts/${body.data.id}`, { status: 'unsubscribed' })
    await app.manage('DELETE', `/organization/contacts/${body.data.id}`)
  }
  const outcome = async (flowId: string, email: string) => {
    const { body } = await send(app, flowId, { contact_email: email })
    return [body.data.status, body.data.reason]
  }

  expect(await outcome(transactional, 'ada@example.com')).toEqual(['queued', null])
  expect(await outcome(marketing, 'bob@example.com')).toEqual(['suppressed', 'unsubscribed'])
  expect(await contactsOf(app)).toMatchObject(people.map(() => ({ subscription: 'unsubscribed' })))
  await app.publicApi('POST', '/contacts/add-group-members', {
    group_id: group.body.data.id,
    members: people.map((email) => ({ email })),
  })
  for (const email of people) expect(await outcome(marketing, email)).toEqual(['suppressed', 'unsubscribed'])
})

test('concurrent requests with one idempotency key send once', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const key = { 'idempotency-key': 'order-1042' }
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(app, flowId, {}, key)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body.data))).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(29)
  expect(await messagesOf(app)).toHaveLength(1)

  await app.db.statement`update messages set status = 'sent' where organization_id = ${organizationOf(app)}`
  const later = await send(app, flowId, { context: { order_id: 1042 } }, key)
  expect(later.body.data).toEqual(answers[0]!.body.data)
})

const tasks = new TaskPool({ processes: 2 })
const runner = new TemplateRunner({ tasks, cpuMs: 20 })
afterAll(() => tasks.stop())

const acceptorOn = ({ db }: TestApp, quota?: NewOrganizationQuota) => {
  const stages = new StageRegistry()
  return new Acceptor({
    ...{ db, stages, runner, senders: anySender, quota },
    builtInFlows: new BuiltInFlows(db),
    templates: new TemplateCache(db),
    uploads: new Uploads(db, stages, { mibPerOrganization: 1 }),
  })
}

function requestOf(app: TestApp, flowId: string, context: object) {
  const contextText = JSON.stringify(context)
  const email: NewEmail = {
    source: 'flow',
    flowId: parseId('flw', flowId)!,
    recipients: [addressOf('ada')],
    ...{ context: { ...context }, contextText, sendAt: null, content: null, test: null },
  }
  return [organizationOf(app), email, { value: contextText, requestHash: '00' }] as const
}

const addressOf = (name: string) => ({ email: `${name}@example.com`, emailKey: `${name}@example.com` })

test('concurrent requests with one idempotency key to different processes send once', async () => {
  const app = await newApp()
  // The contact exists already: losing the race for a new contact would start another round anyway.
  await app.manage('POST', '/organization/contacts', { email: 'ada@example.com' })
  const request = requestOf(app, await createFlow(app), { order_id: 1 })
  const answers: ReturnType<Acceptor['acceptEmail']>[] = []
  await app.db.begin(async (tx) => {
    // Both may look up the key and find nothing, before either can write it.
    await tx`lock table idempotency_keys in share row exclusive mode`
    for (const acceptor of [acceptorOn(app), acceptorOn(app)]) answers.push(acceptor.acceptEmail(...request))
    await until('both to write', async () => (await lockWaits(app.db)).length === 2)
  })
  const [one, two] = await Promise.all(answers)
  expect(one!.email.messages[0]!.id).toBe(two!.email.messages[0]!.id)
  expect([one!.isReplayed, two!.isReplayed].sort()).toEqual([false, true])
  expect(await messagesOf(app)).toHaveLength(1)
})

test('a send whose connection is lost while it is written fails alone', async () => {
  const app = await newApp()
  const request = requestOf(app, await createFlow(app), { order_id: 1 })
  let accepting: Promise<unknown> = Promise.resolve()
  await app.db.begin(async (tx) => {
    await tx`lock table messages in share row exclusive mode`
    accepting = expect(acceptorOn(app).acceptEmail(...request)).rejects.toMatchObject({ code: '57P01' })
    await until('the write to wait', async () => (await terminateLockWaits(app.db, 'insert into messages')) === 1)
    await accepting
  })
  expect(await messagesOf(app)).toHaveLength(0)
  expect(await acceptorOn(app).acceptEmail(...request)).toMatchObject({ email: { messages: [{ status: 'queued' }] } })
})

test('requests with one idempotency key take few queries, accepted or rejected', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const acceptor = acceptorOn(app)
  let queries = 0
  app.db.pool.on('acquire', () => queries++)
  const acceptTwins = async (context: object) => {
    const request = requestOf(app, flowId, context)
    queries = 0
    return Promise.allSettled(Array.from({ length: 400 }, () => acceptor.acceptEmail(...request)))
  }
  const accepted = await acceptTwins({ order_id: 1 })
  expect(accepted.filter((each) => each.status === 'fulfilled' && each.value.isReplayed)).toHaveLength(399)
  expect(queries).toBeLessThan(10)
  const refused = await acceptTwins({})
  expect(refused.filter(({ status }) => status === 'rejected')).toHaveLength(400)
  expect(queries).toBeLessThan(10)
})

test('an error unrelated to the data fails the batch without retrying each request', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  const acceptor = acceptorOn(app)
  await app.db.statement.script('alter table messages rename to messages_away')
  let queries = 0
  app.db.pool.on('acquire', () => queries++)
  const calls = Array.from({ length: 400 }, (_, n) => {
    const [organizationId, email] = requestOf(app, flowId, { order_id: n })
    return acceptor.acceptEmail(organizationId, { ...email, recipients: [addressOf(`m${n}`)] })
  })
  const outcomes = await Promise.allSettled(calls)
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '42P01' } })
  expect(queries).toBeLessThan(10)
})

test('an idempotency key with a different body is rejected, and can be reused after a day', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const key = { 'idempotency-key': 'k' }
  await send(app, flowId, {}, key)
  const reused = await send(app, flowId, { context: { order_id: 2 } }, key)
  expect([reused.status, reused.body.error.type]).toEqual([409, 'idempotency_key_reused'])
  await app.db
    .statement`update idempotency_keys set created_at = now() - interval '25 hours' where organization_id = ${organizationOf(app)}`
  const fresh = await send(app, flowId, { context: { order_id: 2 } }, key)
  expect(fresh.status).toBe(200)
  expect(fresh.headers.get('idempotent-replayed')).toBeNull()
  for (const wrong of ['x'.repeat(256), 'with space', 'ü'])
    expect((await send(app, flowId, {}, { 'idempotency-key': wrong })).status).toBe(400)
})

test('a repeated request gets the first response, even if flow and contact have changed', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const key = { 'idempotency-key': 'k' }
  const first = await send(app, flowId, {}, key)
  const again = async () => (await send(app, flowId, {}, key)).body.data
  const change = (body: object) => app.manage('PATCH', `/organization/flows/${flowId}`, body)

  await change({ html: '<p>{{ nobody_gives_this }}</p>' })
  expect(await again()).toEqual(first.body.data)
  await change({ status: 'paused' })
  expect(await again()).toEqual(first.body.data)
  await app.manage('DELETE', `/organization/contacts/${first.body.data.contact_id}`)
  expect(await again()).toEqual(first.body.data)
  await app.manage('DELETE', `/organization/flows/${flowId}`)
  expect(await again()).toEqual(first.body.data)
  expect(await contactsOf(app)).toHaveLength(0)
})

test('a request that release 0.1.0 has answered gets the same response again', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const key = { 'idempotency-key': 'k' }
  const first = await send(app, flowId, { context: { order_id: 1, colour: 'red' } }, key)
  await app.db.statement`
    update idempotency_keys set answer = (answer #> '{0,messages,0}') - 'id'
    where organization_id = ${organizationOf(app)}`
  const again = await send(app, flowId, { context: { order_id: 1, colour: 'red' } }, key)
  expect([again.headers.get('idempotent-replayed'), again.body.data]).toEqual(['true', first.body.data])
})

test('a request rejected for its idempotency key writes nothing', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const key = { 'idempotency-key': 'k' }
  await send(app, flowId, {}, key)
  const reused = await send(app, flowId, { contact_email: 'somebody.else@example.com' }, key)
  expect(reused.status).toBe(409)
  const otherFlow = await send(
    app,
    flowId.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    {},
    key,
  )
  expect([otherFlow.status, otherFlow.body.error.type]).toEqual([409, 'idempotency_key_reused'])
  expect(await contactsOf(app)).toMatchObject([{ email: 'ada@example.com' }])
})

test('idempotency keys of organizations are independent', async () => {
  const app = await newApp()
  const mine = await createFlow(app)
  const { other, flowId: theirs, theirKey } = await createOther()
  const key = { 'idempotency-key': 'k' }
  const pairs = await Promise.all(
    Array.from({ length: 20 }, async () =>
      Promise.all([send(app, mine, {}, key), send(app, theirs, {}, { ...key, ...theirKey })]),
    ),
  )
  for (const [side, flowId] of [mine, theirs].entries()) {
    const answers = pairs.map((pair) => pair[side]!)
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.data.flow_id))).toEqual(new Set([flowId]))
  }
  for (const each of [app, other]) expect(await messagesOf(each)).toHaveLength(1)
})

test('concurrent sends to a new address create one contact', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      send(app, flowId, { contact_email: n % 2 ? 'ada@example.com' : 'ADA@example.com' }),
    ),
  )
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(answers.filter(({ body }) => body.data.contact_created)).toHaveLength(1)
  expect(await contactsOf(app)).toHaveLength(1)
  expect(await messagesOf(app)).toHaveLength(100)
})

test('invalid input is rejected without affecting the rest of its batch', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const deep = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`)
  const wrong = [
    { contact_email: 'nobody' },
    { contact_email: 5 },
    { context: 'text' },
    { context: { order_id: 'a\u0000b' } },
    { context: { order_id: '\ud800' } },
    { context: { order_id: 1, deep } },
    { context: { order_id: 'x'.repeat(70_000) } },
  ]
  const answers = await Promise.all([...wrong.map((more) => send(app, flowId, more)), send(app, flowId)])
  expect(answers.map(({ status }) => status)).toEqual([...wrong.map(() => 422), 200])
  expect(await messagesOf(app)).toHaveLength(1)
})

test('text that looks like an escape is stored as text, and deep nesting is rejected early', async () => {
  const app = await newApp()
  const flowId = await createFlow(app)
  const looksEscaped = { context: { order_id: 'see \\u0000 and C:\\\\share\\ud8ff' } }
  expect((await send(app, flowId, looksEscaped)).status).toBe(200)
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const sendText = async (fields: string) => {
    const raw = `{"flow_id":"${flowId}","contact_email":"ada@example.com",${fields}}`
    const headers = { 'x-api-token': app.apiKey, 'content-type': 'application/json', 'idempotency-key': 'deep' }
    return (await app.call('POST', '/public/api/v1/flow/send-email-through-flow', { headers, raw })).status
  }
  expect(await sendText(`"context":{"order_id":${deep}}`)).toBe(422)
  expect(await sendText(`"context":{"order_id":1},"unknown":${deep}`)).toBe(200)
})

test('any input is accepted or rejected, and never causes a 500', async () => {
  const app = await newApp()
  const flowId = await createFlow(app, {
    html: '{% for item in items %}{{ item.name | upcase }}{% endfor %}{{ order_id }}',
  })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.emailAddress(), fc.string()),
      fc.dictionary(fc.oneof(fc.constant('items'), fc.constant('order_id'), fc.string()), fc.jsonValue()),
      async (email, context) => {
        const answer = await send(app, flowId, { contact_email: email, context })
        expect([200, 422]).toContain(answer.status)
      },
    ),
    { numRuns: 150 },
  )
})

/** An email by SMTP: each recipient has a key, as made from the Message-ID. */
const emailTo = (names: string[]): NewEmail => ({
  source: 'content',
  kind: 'transactional',
  recipients: names.map((name) => ({ ...addressOf(name), key: { value: `smtp ${name}`, requestHash: '00' } })),
  subject: 'Hello',
  tags: [],
  sendAt: null,
  content: {
    details: {
      kind: 'email',
      from: { name: null, email: 'hello@acme.example' },
      ...{ to: [], cc: [], replyTo: [], headers: [], attachments: [] },
      tracking: { opens: false, clicks: false },
      raw: null,
    },
    html: null,
    text: 'Hi',
    files: [],
  },
})

test('of emails with the same Message-ID that arrive at once for other recipients, each recipient gets one', async () => {
  const app = await newApp()
  const acceptor = acceptorOn(app)
  const recipientsOf = async (names: string[]) =>
    (await acceptor.acceptEmail(organizationOf(app), emailTo(names))).email.messages.map(({ id }) => id)
  await recipientsOf(['zoe'])
  // While one batch is written, the others are collected for the next.
  const [, first, second, third] = await Promise.all([
    recipientsOf(['yan']),
    recipientsOf(['ada']),
    recipientsOf(['ada', 'ben']),
    recipientsOf(['cleo', 'ben']),
  ])
  expect([first!.length, second!.length, third!.length]).toEqual([1, 2, 2])
  expect(second![0]).toBe(first![0])
  expect(third![1]).toBe(second![1])
  const rows = await app.db<{ email: string }>`
    select email from messages where organization_id = ${organizationOf(app)} order by email limit 3`
  expect(rows.map(({ email }) => email)).toEqual(['ada@example.com', 'ben@example.com', 'cleo@example.com'])
})

test('a repeated request whose message was erased fails alone', async () => {
  const [app, other] = [await newApp(), await newApp()]
  const acceptor = acceptorOn(app)
  const erased = requestOf(other, await createFlow(other), { order_id: 1 })
  await acceptor.acceptEmail(...erased)
  // An organization is deleted in steps: its messages before its keys.
  await app.db.statement`delete from messages where organization_id = ${organizationOf(other)}`
  const others = requestOf(app, await createFlow(app), { order_id: 1 })
  const [failed, accepted] = await Promise.allSettled([
    acceptor.acceptEmail(...erased),
    acceptor.acceptEmail(...others),
  ])
  expect(failed).toMatchObject({ status: 'rejected', reason: { type: 'conflict' } })
  expect(accepted).toMatchObject({ status: 'fulfilled', value: { email: { messages: [{ status: 'queued' }] } } })
})

test('a request whose slow template is drafted first uses no quota of others until then', async () => {
  const app = await newApp()
  const organizationId = organizationOf(app)
  await app.db.statement`update organizations set self_registered = true where id = ${organizationId}`
  const slow = '{% for row in (1..1500) %}{{ "" }}{% endfor %}'
  const flowId = await createFlow(app)
  const slowFlowId = await createFlow(app, { subject: `${slow}Slow` })
  const [, email, key] = requestOf(app, flowId, { order_id: 1 })
  const [, slowEmail] = requestOf(app, slowFlowId, { order_id: 1 })
  const acceptor = acceptorOn(app, new NewOrganizationQuota(app.db, 1))
  const both: Submission = { organizationId, emails: [email, slowEmail], isAtomic: true, key: null }
  // In one batch: two messages, which the quota does not allow, and one, which it does.
  const [refused, accepted] = await Promise.allSettled([
    acceptor.accept(both),
    acceptor.acceptEmail(organizationId, email, key),
  ])
  expect(refused).toMatchObject({ status: 'rejected', reason: { type: 'rate_limited' } })
  expect(accepted).toMatchObject({ status: 'fulfilled', value: { email: { messages: [{ status: 'queued' }] } } })
})
