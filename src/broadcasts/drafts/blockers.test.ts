import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'

type Blocker = { code: string; message: string }

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)

async function verifyDomain({ manage }: TestApp, name: string): Promise<void> {
  const { data } = (await manage('POST', '/organization/domains', { name })).body
  for (const record of data.records) published.set(record.name, { txt: [record.value] })
  expect((await manage('POST', `/organization/domains/${data.id}/verify`)).body.data.status).toBe('verified')
}

const footer = '<p>News. {{ brand.address }}</p>'

test('what makes an email useless is named by the check, the preview, and every way to start', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const { flow, group, create } = await fill(app)
  const readers = await group('Readers', emails('a', 3))
  const broadcast = await create([readers])
  const { blockers } = (await broadcast.act('check')).body.data
  expect(blockers).toEqual([
    { code: 'unreachable_links', message: expect.stringMatching(/^Links, .* start with http:\/\/localhost:/) },
    { code: 'sender_not_verified', message: expect.stringContaining('leaves as hello@localhost, which receivers') },
    { code: 'no_postal_address', message: expect.stringContaining('does not contain your postal address') },
  ])
  const preview = await app.manage('POST', `/organization/flows/${flow}/preview`, { context: { city: 'Graz' } })
  expect(preview.body.data.blockers).toEqual(blockers)

  // A start that names accepted blockers is refused if there are others.
  const startWith = (accepted: string[]) =>
    app.manage('POST', `/organization/broadcasts/${broadcast.id}/start`, { accepted_blockers: accepted })
  const codes = blockers.map(({ code }: Blocker) => code)
  for (const [accepted, others] of [
    [[], codes],
    [codes.slice(1), codes.slice(0, 1)],
  ])
    expect(await startWith(accepted)).toMatchObject({
      status: 409,
      body: {
        data: null,
        error: { type: 'conflict' },
        message: expect.stringMatching(
          `^The broadcast was not started\\. .* correct or accept this \\(${others.join(', ')}\\)\\.$`,
        ),
      },
    })
  expect((await startWith(['all'])).status).toBe(422)
  const { status, starts_at } = (await app.manage('GET', `/organization/broadcasts/${broadcast.id}`)).body.data
  expect([status, starts_at, relay.mails.length]).toEqual(['draft', null, 0])

  expect(await startWith(codes)).toMatchObject({ status: 202, body: { data: { warnings: blockers } } })
  await broadcast.ended()
  expect(relay.mails).toHaveLength(3)
  const later = { schedule: { at: new Date(Date.now() + 3_600_000).toISOString() } }
  const scheduled = await create([readers], later)
  expect((await scheduled.start('schedule')).body.data.warnings).toEqual(blockers)
  expect((await scheduled.act('send-now')).body.data.warnings).toEqual(blockers)
  // What is rejected has no warnings.
  expect(await scheduled.act('start')).toMatchObject({ status: 409, body: { data: null } })
})

test('blockers are about the senders and hosts that are really used', async () => {
  await using relay = await startRelay()
  const environment = { SMTP_URL: relay.url, DNS_SERVERS: names.address, BASE_URL: '', MAIL_FROM: 'hi@acme.example' }
  await using app = await startTestApp(environment)
  const { flow, group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('a', 3))])
  const blockers = async (): Promise<Blocker[]> => (await broadcast.act('check')).body.data.blockers
  const codes = async () => (await blockers()).map(({ code }) => code)
  const change = (body: object) => app.manage('PATCH', `/organization/flows/${flow}`, body)
  await app.manage('PATCH', '/organization/brand', { postal_address: '1 Main Street' })
  await change({ html: footer })
  // The operator answers for MAIL_FROM.
  expect(await codes()).toEqual(['unreachable_links'])
  const address = { base_url: 'https://mail.acme.example' }
  expect((await app.manage('PATCH', '/organization/sending/setup', address)).status).toBe(200)
  expect(await codes()).toEqual([])

  await change({ from_email: 'news@shop.example.com' })
  expect(await blockers()).toEqual([
    { code: 'sender_not_verified', message: expect.stringMatching(/^shop\.example\.com is not verified/) },
  ])
  await verifyDomain(app, 'shop.example.com')
  expect(await codes()).toEqual([])
  await change({ from_email: null })
  const senderOf = async () => (await broadcast.act('check')).body.data.plan.emails[0].from_email
  expect([await codes(), await senderOf()]).toEqual([[], 'hello@shop.example.com'])

  const variants = [
    { subject: 'A', share: 50 },
    { flow_version: 3, share: 50 },
  ]
  await app.manage('PATCH', `/organization/flows/${flow}`, { from_email: 'news@other.example.com' })
  const third = (await app.manage('GET', `/organization/flows/${flow}`)).body.data.version
  variants[1] = { flow_version: third, share: 50 }
  await change({ from_email: null })
  expect(await codes()).toEqual([])
  await app.manage('PATCH', `/organization/broadcasts/${broadcast.id}`, { variants })
  expect(await blockers()).toEqual([
    { code: 'sender_not_verified', message: expect.stringMatching(/^other\.example\.com is not verified/) },
  ])
})

test('a published email shows the address that it was published with, and has to be published after the first one', async () => {
  await using app = await startTestApp()
  const { flow, group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('a', 3))])
  const advice = async () => {
    const { blockers } = (await broadcast.act('check')).body.data
    return blockers.find(({ code }: Blocker) => code === 'no_postal_address')?.message ?? null
  }
  const setAddress = (text: string) => app.manage('PATCH', '/organization/brand', { postal_address: text })
  await app.manage('PATCH', `/organization/flows/${flow}`, { html: footer })
  expect(await advice()).toMatch(/Set it under Brand: the email has a place for it\.$/)
  await setAddress('1 Main Street')
  expect(await advice()).toMatch(/Publish the flow again/)
  await app.manage('POST', `/organization/flows/${flow}/rebuild`)
  expect(await advice()).toBeNull()
  await setAddress('2 High Street')
  expect(await advice()).toBeNull()
})
