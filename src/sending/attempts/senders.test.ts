import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createFlow, orderFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { createService } from '../../service.ts'

const strict = {
  REQUIRE_VERIFIED_DOMAINS: '',
  MAIL_FROM: 'Operator <hello@operator.example>',
  ALLOWED_SENDER_DOMAINS: 'acme.example, *.shops.example',
}

const save = (app: TestApp, flow: object) => app.manage('POST', '/organization/flows', { ...orderFlow, ...flow })

/** As it was saved before the rule: the rule is not asked. */
const setSender = (app: TestApp, address: string) => app.db.statement`update flow_versions set from_email = ${address}`

const settled = (app: TestApp) =>
  until('the message to be settled', async () => {
    const [row] = await app.db<{ status: string; reason: string | null }>`
      select status, reason from messages where status <> 'queued'`
    return row
  })

test('with open sign-up a flow is saved only with a sender that the operator allows', async () => {
  await using app = await startTestApp(strict, ['serve'])

  const rejected = await save(app, { from_name: 'CEO of Operator', from_email: 'ceo@operator.example' })

  expect(rejected.status).toBe(422)
  expect(rejected.body.error).toMatchObject({ type: 'sender_not_verified', fields: [{ path: 'from_email' }] })
  expect((await app.manage('GET', '/organization/flows')).body.data).toEqual([])
  for (const from_email of ['ada@acme.example', 'ada@one.shops.example', 'hello@operator.example', null])
    expect((await save(app, { from_email })).status).toBe(201)

  const { id } = (await save(app, {})).body.data
  const changed = await app.manage('PATCH', `/organization/flows/${id}`, { from_email: 'eve@elsewhere.example' })
  expect(changed.body.error).toMatchObject({ type: 'sender_not_verified' })
  expect((await app.manage('GET', `/organization/flows/${id}`)).body.data).toMatchObject({
    from_email: null,
    version: 1,
  })
})

test('an installation for one organization may send from any address', async () => {
  await using app = await startTestApp({ SIGNUP: 'first-user', REQUIRE_VERIFIED_DOMAINS: '' }, ['serve'])
  expect(app.config.REQUIRE_VERIFIED_DOMAINS).toBe(false)
  expect((await save(app, { from_email: 'ada@anywhere.example' })).status).toBe(201)
})

test('a flow saved before the rule is rejected when it is sent or tested', async () => {
  await using app = await startTestApp(strict, ['serve'])
  const flowId = await createFlow(app)
  await setSender(app, 'ceo@operator.example')

  const sent = await send(app, flowId)
  const tested = await app.manage('POST', `/organization/flows/${flowId}/test`, {
    to: 'ada@example.com',
    context: { order_id: 1 },
  })

  for (const answer of [sent, tested]) {
    expect(answer.status).toBe(422)
    expect(answer.body.error.type).toBe('sender_not_verified')
  }
  expect(await app.db`select from messages`).toEqual([])
  const paused = await app.manage('PATCH', `/organization/flows/${flowId}`, { status: 'paused' })
  expect(paused.status).toBe(200)
})

test('a message queued before the rule fails with a reason and is not sent', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ ...strict, SMTP_URL: relay.url }, ['serve'])
  const flowId = await createFlow(app)
  const { body } = await send(app, flowId)
  await setSender(app, 'ceo@operator.example')

  const secrets = { current: 'a secret that only the tests know, and all of them do', previous: undefined }
  const log = pino({ level: 'silent' })
  const worker = await createService({ config: app.config, secrets, db: app.db, log, roles: ['work'] })
  await worker.start()

  expect(await settled(app)).toEqual({
    status: 'failed',
    reason: 'sender not verified: this service does not send from operator.example',
  })
  const message = await getMessage(app, body.data.message_id)
  expect(message).toMatchObject({ status: 'failed', reason: expect.stringContaining('operator.example') })
  expect(relay.mails).toEqual([])
  await worker.stop()
})

test('only emails from the domain of the DKIM key are signed', async () => {
  await using relay = await startRelay()
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-dkim-'))
  const keyFile = join(folder, 'key.pem')
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await using app = await startTestApp({
    ...strict,
    SMTP_URL: relay.url,
    DKIM_DOMAIN: 'acme.example',
    DKIM_SELECTOR: 'test',
    DKIM_PRIVATE_KEY_FILE: keyFile,
  })
  for (const from_email of ['ada@acme.example', 'ada@one.shops.example', null])
    await send(app, await createFlow(app, { from_email }))

  await until('all mails', () => relay.mails.length === 3)

  const signed = relay.mails.filter(({ raw }) => /^DKIM-Signature:/im.test(raw)).map(({ mail }) => mail.from?.address)
  expect(signed).toEqual(['ada@acme.example'])
  rmSync(folder, { recursive: true })
})

test('a self-registered organization has a daily message limit, the first organization has none', async () => {
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ ...strict, SMTP_URL: relay.url, NEW_ORGANIZATION_DAILY_MESSAGES: '5' }, [
    'serve',
  ])
  const other = await registerOther(app)
  const key = await createKey(other)
  const flowId = (await create(other, '/flows', orderFlow)).id
  const sendAs = (email: string) => send(app, flowId, { contact_email: email }, { 'x-api-token': key })

  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => sendAs(`person${i}@example.com`)))

  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(5).fill(200), ...Array(7).fill(429)])
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.body.error.type).toBe('rate_limited')
  const inSeconds = (answer: typeof refused) => Number(answer.headers.get('retry-after'))
  expect(Math.abs(inSeconds(refused) - 86_400)).toBeLessThan(60)

  // The first message leaves the last 24 hours in half an hour.
  const [first] = await app.db<{ id: string }>`select id from messages order by id limit 1`
  const before = (Date.now() - 23.5 * 3_600_000).toString(16).padStart(12, '0')
  await app.db.statement`
    update messages set id = overlay(id::text placing ${`${before.slice(0, 8)}-${before.slice(8)}`} from 1)::uuid
    where id = ${first!.id}`
  const later = await sendAs('later@example.com')
  expect([later.status, Math.abs(inSeconds(later) - 1_800) < 60]).toEqual([429, true])
  expect(later.body.message).toMatch(/Try again at \d{4}-\d\d-\d\d \d\d:\d\d UTC, or ask/)

  const own = await createFlow(app)
  const ownAnswers = await Promise.all(Array.from({ length: 8 }, () => send(app, own)))
  expect(ownAnswers.map(({ status }) => status)).toEqual(Array(8).fill(200))

  await app.db.statement`update organizations set created_at = now() - interval '15 days'`
  expect((await sendAs('older@example.com')).status).toBe(200)
})

test('messages of the day before do not count against a new organization', async () => {
  await using relay = await startRelay({ parse: false })
  await using app = await startTestApp({ ...strict, SMTP_URL: relay.url, NEW_ORGANIZATION_DAILY_MESSAGES: '1' }, [
    'serve',
  ])
  const other = await registerOther(app)
  const key = await createKey(other)
  const flowId = (await create(other, '/flows', orderFlow)).id
  const sendAs = () => send(app, flowId, {}, { 'x-api-token': key })
  expect((await sendAs()).status).toBe(200)
  expect((await sendAs()).status).toBe(429)
  const yesterday = (Date.now() - 25 * 3_600_000).toString(16).padStart(12, '0')
  await app.db.statement`
    update messages set id = overlay(id::text placing ${`${yesterday.slice(0, 8)}-${yesterday.slice(8)}`} from 1)::uuid`

  expect((await sendAs()).status).toBe(200)
})
