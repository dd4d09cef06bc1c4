import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

type Record = { purpose: string; name: string; value: string }

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)
const settings = { DNS_SERVERS: names.address, MAIL_FROM: 'Operator <mail@operator.example>' }

async function verified(manage: TestApp['manage'], name: string): Promise<string> {
  const { id, records } = await create({ manage }, '/domains', { name })
  for (const { purpose, name, value } of records as Record[])
    if (purpose === 'ownership' || purpose === 'dkim') published.set(name, { txt: [value] })
  expect((await manage('POST', `/organization/domains/${id}/verify`)).body.data.status).toBe('verified')
  return id
}

const defaultOf = async (manage: TestApp['manage']) => (await manage('GET', '/organization')).body.data.default_sender

const fromOf = (raw: string) => /^From: (.*)\r$/m.exec(raw)![1]
const signerOf = (raw: string) => /^DKIM-Signature:[\s\S]*?\bd=([^;]+);/m.exec(raw)?.[1]

test('the first verified domain becomes that of the default sender, which sends and signs until the domain is lost', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ ...settings, SMTP_URL: relay.url })
  const { manage } = app
  const flowId = await createFlow(app)
  const sent = async () => {
    const before = relay.mails.length
    const { message_id: id } = (await send(app, flowId)).body.data
    const { raw } = await until('the email', () => relay.mails[before])
    const shown = (await getMessage({ manage }, id)).from
    return { shown, from: fromOf(raw), signer: signerOf(raw) }
  }
  expect(await sent()).toEqual({
    shown: 'Operator <mail@operator.example>',
    from: 'Operator <mail@operator.example>',
    signer: undefined,
  })

  await verified(manage, 'acme.example.com')
  expect(await defaultOf(manage)).toEqual({ name: 'Acme', email: 'hello@acme.example.com' })
  const own = { shown: 'Acme <hello@acme.example.com>', from: 'Acme <hello@acme.example.com>' }
  expect(await sent()).toEqual({ ...own, signer: 'acme.example.com' })
  expect((await manage('GET', '/organization/sending')).body.data.mail_from).toBe(own.from)

  // Chosen by hand: another verified domain changes nothing.
  await manage('PATCH', '/organization', { default_sender: { email: 'news@ACME.example.com' } })
  const second = await verified(manage, 'second.example.com')
  expect(await defaultOf(manage)).toEqual({ name: null, email: 'news@acme.example.com' })
  expect(await sent()).toMatchObject({ from: 'news@acme.example.com', signer: 'acme.example.com' })

  // The records have been missing for more than a day.
  for (const name of published.keys()) if (name.endsWith('acme.example.com')) published.delete(name)
  const { data: domains } = (await manage('GET', '/organization/domains')).body
  const { id } = domains.find(({ name }: { name: string }) => name === 'acme.example.com')
  await manage('POST', `/organization/domains/${id}/verify`)
  expect(await sent()).toMatchObject({ from: 'news@acme.example.com' })
  await app.db.statement`update domains set failing_since = now() - interval '25 hours' where failing_since is not null`
  expect((await manage('POST', `/organization/domains/${id}/verify`)).body.data.status).toBe('unverified')
  expect(await sent()).toMatchObject({ from: 'Operator <mail@operator.example>', signer: undefined })
  expect(await defaultOf(manage)).toEqual({ name: null, email: 'news@acme.example.com' })

  await manage('PATCH', '/organization', { default_sender: { name: 'Shop', email: 'hello@second.example.com' } })
  expect(await sent()).toMatchObject({ from: 'Shop <hello@second.example.com>', signer: 'second.example.com' })
  await manage('DELETE', `/organization/domains/${second}`)
  expect(await defaultOf(manage)).toBe(null)
  expect(await sent()).toMatchObject({ from: 'Operator <mail@operator.example>' })
})

test('a default sender follows the rules of other senders, and belongs to one organization', async () => {
  await using app = await startTestApp({ ...settings, REQUIRE_VERIFIED_DOMAINS: 'true' }, ['serve'])
  const other = await registerOther(app)
  const choose = (manage: TestApp['manage'], default_sender: unknown) =>
    manage('PATCH', '/organization', { default_sender })
  expect((await choose(app.manage, { email: 'a@strict.example.com' })).body.error).toMatchObject({
    type: 'sender_not_verified',
    fields: [{ path: 'default_sender.email' }],
  })
  for (const email of ['nobody', 'a@b', ''])
    expect((await choose(app.manage, { email })).body.error.fields[0].path).toBe('default_sender.email')
  await verified(app.manage, 'strict.example.com')
  expect((await choose(other.manage, { email: 'a@strict.example.com' })).status).toBe(422)
  expect(await defaultOf(other.manage)).toBe(null)

  const chosen = await choose(app.manage, { name: ' Ada ', email: 'a@strict.example.com' })
  expect(chosen.body.data.default_sender).toEqual({ name: 'Ada', email: 'a@strict.example.com' })
  expect((await app.manage('PATCH', '/organization', { name: 'New' })).body.data.default_sender).not.toBe(null)
  expect((await choose(app.manage, null)).body.data.default_sender).toBe(null)
})
