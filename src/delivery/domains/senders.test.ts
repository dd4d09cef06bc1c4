import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { expect, test } from 'vitest'
import { type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { registerOther } from '../../../test/support/people.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

type Record = { purpose: string; name: string; value: string }
type Manage = TestApp['manage']

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)

/** Adds a domain, publishes its records and verifies it. */
async function verified(manage: Manage, name: string): Promise<{ id: string; records: Record[] }> {
  const { data } = (await manage('POST', '/organization/domains', { name })).body
  publish(data.records)
  expect((await manage('POST', `/organization/domains/${data.id}/verify`)).body.data.status).toBe('verified')
  return data
}
const publish = (records: Record[]) => {
  for (const { purpose, name, value } of records)
    if (purpose === 'ownership' || purpose === 'dkim') published.set(name, { txt: [value] })
}

/** An independent verifier, which finds the keys that are published. */
async function signatureOf(raw: Buffer | string) {
  const resolver = async (name: string) => {
    const { txt } = published.get(name) ?? {}
    if (!txt) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return txt.map((text) => [text])
  }
  const { results } = await dkimVerify(raw, { resolver } as never)
  return { signingDomain: results[0]?.signingDomain, result: results[0]?.status.result }
}

const flowOf = async (manage: Manage, fromEmail: string) =>
  manage('POST', '/organization/flows', {
    name: `Flow of ${fromEmail}`,
    kind: 'transactional',
    subject: 'Hello',
    html: '<p>Hi</p>',
    from_email: fromEmail,
  })

test('emails of two organizations are signed with their own keys, and an independent verifier accepts both', async () => {
  const relay = await startRelay()
  await using app = await startTestApp({ DNS_SERVERS: names.address, SMTP_URL: relay.url })
  const other = await registerOther(app)
  const organizations = [
    { manage: app.manage, name: 'shop.example.com' },
    { manage: other.manage, name: 'example.org' },
  ]
  for (const { manage, name } of organizations) {
    await verified(manage, name)
    const flow = (await flowOf(manage, `hello@${name}`)).body.data
    await manage('POST', `/organization/flows/${flow.id}/send`, { contact_email: 'ada@example.net', context: {} })
  }
  await until('both emails', () => relay.mails.length === 2)
  const found = await Promise.all(relay.mails.map(({ raw }) => signatureOf(raw)))
  expect(found.map(({ signingDomain, result }) => [signingDomain, result]).sort()).toEqual([
    ['example.org', 'pass'],
    ['shop.example.com', 'pass'],
  ])
  await relay.stop()
})

test('with REQUIRE_VERIFIED_DOMAINS, only verified domains can be used, each by its organization', async () => {
  await using app = await startTestApp({ DNS_SERVERS: names.address, REQUIRE_VERIFIED_DOMAINS: 'true' })
  const other = await registerOther(app)
  const manage = app.manage
  expect(await flowOf(manage, 'a@new.example.com')).toMatchObject({
    status: 422,
    body: { error: { type: 'sender_not_verified' } },
  })
  expect((await flowOf(manage, 'a@own.example.com')).status).toBe(422)
  await verified(manage, 'own.example.com')
  const flow = (await flowOf(manage, 'a@own.example.com')).body.data
  expect(flow.id).toMatch(/^flw_/)
  expect((await flowOf(other.manage, 'a@own.example.com')).status).toBe(422)
  expect((await flowOf(manage, 'a@sub.own.example.com')).status).toBe(422)
  const send = () =>
    manage('POST', `/organization/flows/${flow.id}/send`, { contact_email: 'ada@example.net', context: {} })
  expect((await send()).status).toBe(200)
})

test('while a key is rotated, every email verifies', async () => {
  const relay = await startRelay()
  await using app = await startTestApp({ DNS_SERVERS: names.address, SMTP_URL: relay.url })
  const manage = app.manage
  const domain = await verified(manage, 'rotated.example.com')
  const flow = (await flowOf(manage, 'hello@rotated.example.com')).body.data
  const send = () =>
    manage('POST', `/organization/flows/${flow.id}/send`, { contact_email: 'ada@example.net', context: {} })
  let sent = 0
  const sendSome = async () => {
    for (let i = 0; i < 5; i++, sent++) expect((await send()).status).toBe(200)
  }
  await sendSome()
  const rotating = (await manage('POST', `/organization/domains/${domain.id}/rotate-key`)).body.data
  await sendSome()
  publish(rotating.records)
  await manage('POST', `/organization/domains/${domain.id}/verify`)
  await sendSome()
  await until('all emails', () => relay.mails.length === sent)
  for (const { raw } of relay.mails) expect(await signatureOf(raw)).toMatchObject({ result: 'pass' })
  await relay.stop()
})
