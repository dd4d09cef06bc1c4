import { Resolver } from 'node:dns/promises'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { type NameAnswer, type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { recordDomainChange } from '../../operations/notices/domain-notices.ts'
import { reseal } from '../../platform/db/sealed.ts'
import { parseId } from '../../platform/values/ids.ts'
import { checkDueDomains } from './checking.ts'
import { domainKeyBox, domainKeys } from './dkim-keys.ts'
import { openDns } from './dns.ts'
import { findDomain, verifyDomain } from './domains.ts'
import { foundCheck } from './record-checks.ts'

const published = (type: string, value: string): OtherRecords =>
  type === 'CNAME' ? { cname: value } : type === 'MX' ? { mx: [value] } : { txt: [value] }

type Published = OtherRecords & { answer?: NameAnswer }

/** What the name server knows. */
const zone = new Map<string, Published>()
beforeEach(() => zone.clear())
const names = await startNameServer(
  (name) => zone.get(name)?.answer ?? (zone.has(name) ? [] : 'no such name'),
  (name) => zone.get(name) ?? {},
)
/** Nothing is sent. */
const settings = { DNS_SERVERS: names.address, SMTP_URL: 'smtp://127.0.0.1:9', BASE_URL: 'https://wax.example.net' }
const start = (more = {}) => startTestApp({ ...settings, ...more }, ['serve'])

const lines: string[] = []
const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) })

const partsOf = ({ db, secrets }: TestApp) => ({
  db,
  log,
  box: domainKeyBox(secrets),
  hosts: { host: 'wax.example.net', bounceDomain: undefined },
  spfSources: async () => [],
  dnsServers: [names.address],
  onChange: recordDomainChange,
  afterChange: () => {},
})

type Record = {
  purpose: string
  type: string
  name: string
  value: string
  status: string
  found: string | null
  detail: string
}
type Domain = { id: string; name: string; status: string; records: Record[] }

const add = async (app: TestApp, name: string) => (await create(app, '/domains', { name })) as Domain
const verify = async (app: TestApp, { id }: Domain) => app.manage('POST', `/organization/domains/${id}/verify`)
const recordOf = ({ records }: Domain, purpose: string) => records.find((record) => record.purpose === purpose)!

function publish(domain: Domain, purposes = ['ownership', 'dkim']): void {
  for (const { purpose, type, name, value } of domain.records)
    if (purposes.includes(purpose)) zone.set(name, published(type, value))
}

test('a domain is verified when the records of ownership and DKIM are found, whatever SPF says', async () => {
  await using app = await start()
  const domain = await add(app, 'Shop.Example.com.')
  expect(domain).toMatchObject({ name: 'shop.example.com', status: 'pending' })
  expect(domain.records.map(({ purpose }) => purpose)).toEqual(['ownership', 'dkim', 'spf', 'dmarc', 'tracking'])
  expect(recordOf(domain, 'ownership')).toMatchObject({
    name: '_waxwing.shop.example.com',
    relative_name: '_waxwing.shop',
  })
  publish(domain)
  const { data } = (await verify(app, domain)).body
  expect(data.status).toBe('verified')
  expect(recordOf(data, 'spf')).toMatchObject({ status: 'missing', found: null })
  publish(domain, ['spf', 'dmarc', 'tracking'])
  const all = (await verify(app, domain)).body.data as Domain
  expect(all.records.map(({ status }) => status)).toEqual(Array(5).fill('ok'))
})

test('a check that began before the last one stores nothing', async () => {
  await using app = await start()
  const domain = await add(app, 'shop.example.com')
  const began = new Date()
  publish(domain)
  expect((await verify(app, domain)).body.data.status).toBe('verified')
  zone.clear()
  const [organizationId, id] = [parseId('org', app.organizationId)!, parseId('dom', domain.id)!]
  const stored = (await findDomain(app.db, organizationId, id))!
  expect(await verifyDomain(partsOf(app), stored, began)).toMatchObject({ status: 'verified' })
  expect(await verifyDomain(partsOf(app), stored)).toMatchObject({ status: 'warning' })
})

test('each way in which a record can be wrong is named', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  const [ownership, dkim] = [recordOf(domain, 'ownership'), recordOf(domain, 'dkim')]
  const spfName = recordOf(domain, 'spf').name
  const check = async (name: string, published: Published | undefined, purpose: string) => {
    zone.clear()
    if (published) zone.set(name, published)
    const { status, detail } = recordOf((await verify(app, domain)).body.data, purpose)
    return [status, detail]
  }
  expect(await check(ownership.name, undefined, 'ownership')).toEqual([
    'missing',
    expect.stringContaining('There is no DNS record'),
  ])
  expect(await check(ownership.name, { txt: ['hello'] }, 'ownership')).toEqual([
    'missing',
    expect.stringContaining('no such TXT'),
  ])
  expect(await check(ownership.name, { txt: ['waxwing-domain-verification=1'] }, 'ownership')).toEqual([
    'wrong',
    expect.stringContaining('different value'),
  ])
  expect(await check(ownership.name, { answer: 'failure' }, 'ownership')).toEqual([
    'unknown',
    expect.stringContaining('SERVFAIL'),
  ])
  expect(await check(ownership.name, { txt: [`"${ownership.value}"`] }, 'ownership')).toEqual(['ok', null])
  expect(await check(dkim.name, { txt: [dkim.value.slice(0, 200)] }, 'dkim')).toEqual([
    'wrong',
    expect.stringContaining('another key'),
  ])
  expect(await check(dkim.name, { txt: ['v=DKIM1; p='] }, 'dkim')).toEqual([
    'wrong',
    expect.stringContaining('revoked'),
  ])
  expect(await check(dkim.name, { txt: [dkim.value.replace('p=', 'p= ').replaceAll('; ', ';')] }, 'dkim')).toEqual([
    'ok',
    null,
  ])
  zone.set('keys.provider.example', { txt: [dkim.value] })
  expect(await check(dkim.name, { cname: 'keys.provider.example' }, 'dkim')).toEqual(['missing', expect.any(String)])
  const source = 'a:wax.example.net'
  const spf = (...txt: string[]) => check(spfName, { txt }, 'spf')
  expect(await spf(`v=spf1 include:a.example include:b.example ${source} -all`)).toEqual(['ok', null])
  expect(await spf('v=spf1 include:a.example -all')).toEqual([
    'wrong',
    `The record does not contain ${source}. Replace it with this value, which keeps the rest.`,
  ])
  expect(await spf(`v=spf1 ${source} -all`, 'v=spf1 -all')).toEqual(['wrong', expect.stringContaining('several SPF')])
})

test('SPF allows the mail servers that may carry email from the domain, and keeps what is published', async () => {
  await using app = await start({ SMTP_URL: undefined })
  const domain = await add(app, 'example.com')
  const spf = async () => {
    const { data } = (await app.manage('GET', `/organization/domains/${domain.id}`)).body
    const record = (data as Domain).records.find(({ purpose }) => purpose === 'spf')
    return record && [record.value, record.status, record.detail]
  }
  const publishSpf = async (...txt: string[]) => {
    zone.set('example.com', { txt })
    await verify(app, domain)
    return spf()
  }
  // The built-in inbox sends nothing.
  expect(await spf()).toBeUndefined()

  const ses = await addMailServer(app, { preset: 'amazon_ses', username: 'AKIA', password: 'p' })
  expect(await spf()).toEqual(['v=spf1 include:amazonses.com ~all', 'unknown', 'Not checked yet.'])
  const google = 'v=spf1 include:_spf.google.com'
  const missing = (sources: string) =>
    `The record does not contain ${sources}. Replace it with this value, which keeps the rest.`
  expect(await publishSpf(`${google} -all`)).toEqual([
    `${google} include:amazonses.com -all`,
    'wrong',
    missing('include:amazonses.com'),
  ])
  expect(await publishSpf(`${google} +include:AmazonSES.com ?all`)).toEqual([
    `${google} +include:AmazonSES.com ?all`,
    'ok',
    null,
  ])
  // Receivers stop at "all", and what fails is not allowed.
  for (const useless of ['-all include:amazonses.com', '-include:amazonses.com -all'])
    expect([useless, (await publishSpf(`v=spf1 ${useless}`))![1]]).toEqual([useless, 'wrong'])
  expect(await publishSpf(`${google} redirect=_spf.example.org`)).toEqual([
    `${google} include:amazonses.com redirect=_spf.example.org`,
    'wrong',
    missing('include:amazonses.com'),
  ])
  expect(await publishSpf(`${google} -all`, 'v=spf1 include:_spf.google.com mx ~all')).toEqual([
    `${google} mx include:amazonses.com -all`,
    'wrong',
    expect.stringContaining('several SPF records'),
  ])
  const many = Array.from({ length: 10 }, (_, index) => `include:s${index}.example.org`).join(' ')
  expect((await publishSpf(`v=spf1 ${many} -all`))![2]).toBe(
    `${missing('include:amazonses.com')} The record needs 11 DNS look-ups, and receivers stop after 10. Remove what no longer sends your email.`,
  )

  // Known at once, without another look at the DNS.
  await publishSpf('v=spf1 include:amazonses.com ~all')
  const marketing = await addMailServer(app, { url: 'smtp://ada:secret@mail.example.com:587', kinds: ['marketing'] })
  expect(await spf()).toEqual([
    'v=spf1 include:amazonses.com a:mail.example.com ~all',
    'wrong',
    missing('a:mail.example.com'),
  ])
  await app.manage('PATCH', `/organization/mail-servers/${marketing}`, { from_domains: ['other.example'] })
  expect(await spf()).toEqual(['v=spf1 include:amazonses.com ~all', 'ok', null])
  await app.manage('PATCH', `/organization/mail-servers/${marketing}`, { from_domains: [], kinds: ['transactional'] })
  await app.manage('DELETE', `/organization/mail-servers/${ses}`)
  expect((await spf())![0]).toBe('v=spf1 include:amazonses.com a:mail.example.com ~all')
})

test('nothing that leads to this machine or a private network is to be published', async () => {
  for (const BASE_URL of ['http://localhost:3000', 'http://10.0.0.7', 'http://[fd00::7]', 'http://waxwing:3000']) {
    await using app = await start({ BASE_URL, BOUNCE_DOMAIN: 'bounces.acme.example', BOUNCE_SMTP_PORT: '0' })
    const domain = await add(app, 'example.com')
    expect([BASE_URL, domain.records.map(({ purpose }) => purpose)]).toEqual([BASE_URL, ['ownership', 'dkim', 'dmarc']])
    expect(JSON.stringify(domain.records)).not.toMatch(/localhost|10\.0\.0\.7|fd00|:waxwing/)
    await addMailServer(app, { url: 'smtp://10.0.0.8' })
    const { data } = (await verify(app, domain)).body
    expect(data.records).toHaveLength(3)
  }
})

test('a DKIM record may be an alias of another name', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  publish(domain)
  const dkim = recordOf(domain, 'dkim')
  zone.set('key.provider.example', { txt: [dkim.value] })
  zone.set(dkim.name, { cname: 'key.provider.example' })
  expect((await verify(app, domain)).body.data.status).toBe('verified')
})

test('a name server that does not answer changes nothing, and the check ends', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  publish(domain)
  await verify(app, domain)
  for (const name of [...zone.keys()]) zone.set(name, { answer: 'silence' })
  const { data } = (await verify(app, domain)).body
  expect(data.status).toBe('verified')
  expect(recordOf(data, 'dkim')).toMatchObject({ status: 'unknown', detail: expect.stringContaining('did not answer') })
})

test('a vanished record gives a warning with a notice, and after 24 hours the domain is unverified', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  publish(domain)
  await verify(app, domain)
  zone.delete(recordOf(domain, 'dkim').name)
  expect((await verify(app, domain)).body.data.status).toBe('warning')
  expect((await verify(app, domain)).body.data.status).toBe('warning')
  const titles = async () =>
    (await app.manage('GET', '/organization/notices')).body.data.map(({ title }: { title: string }) => title)
  expect(await titles()).toEqual(['A DNS record of example.com has vanished'])

  await app.db.statement`update domains set failing_since = now() - interval '25 hours'`
  zone.set(recordOf(domain, 'ownership').name, { answer: 'failure' })
  zone.set(recordOf(domain, 'dkim').name, { answer: 'failure' })
  expect((await verify(app, domain)).body.data.status).toBe('warning')
  publish(domain)
  zone.delete(recordOf(domain, 'dkim').name)
  expect((await verify(app, domain)).body.data.status).toBe('unverified')
  expect(await titles()).toContain('example.com is no longer verified')
  publish(domain)
  expect((await verify(app, domain)).body.data).toMatchObject({ status: 'verified', failing_since: null })
})

test('a domain that one organization has verified cannot be added or verified by another', async () => {
  await using app = await start()
  const other = await registerOther(app)
  const mine = await add(app, 'example.com')
  const theirs = (await create(other, '/domains', { name: 'example.com' })) as Domain
  expect(recordOf(theirs, 'ownership').value).not.toBe(recordOf(mine, 'ownership').value)
  publish(mine)
  expect((await verify(app, mine)).body.data.status).toBe('verified')
  zone.clear()
  publish(theirs)
  expect((await other.manage('POST', `/organization/domains/${theirs.id}/verify`)).status).toBe(409)
  expect((await other.manage('POST', '/organization/domains', { name: 'example.com' })).status).toBe(409)
  await app.manage('DELETE', `/organization/domains/${mine.id}`)
  expect((await other.manage('POST', `/organization/domains/${theirs.id}/verify`)).body.data.status).toBe('verified')
})

test('a rotated key is used once its record is found', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  publish(domain)
  await verify(app, domain)
  const rotate = () => app.manage('POST', `/organization/domains/${domain.id}/rotate-key`)
  const rotating = (await rotate()).body.data as Domain
  const keys = rotating.records.filter(({ purpose }) => purpose === 'dkim')
  expect(keys).toHaveLength(2)
  expect((await rotate()).status).toBe(409)
  expect((await verify(app, domain)).body.data).toMatchObject({ status: 'verified', is_rotating: true })
  publish(rotating)
  const rotated = (await verify(app, domain)).body.data
  expect(rotated).toMatchObject({ status: 'verified', is_rotating: false })
  expect(rotated.records.filter(({ purpose }: Record) => purpose === 'dkim').map(({ name }: Record) => name)).toEqual([
    keys[1]!.name,
  ])
})

test('domains are checked in the background, those of each organization in turn', async () => {
  await using app = await start()
  const other = await registerOther(app)
  for (let i = 0; i < 3; i++) await add(app, `shop${i}.example.com`)
  const domain = (await create(other, '/domains', { name: 'example.org' })) as Domain
  publish(domain)
  await checkDueDomains(partsOf(app))
  expect((await other.manage('GET', `/organization/domains/${domain.id}`)).body.data.status).toBe('verified')
  const before = names.queries.length
  await checkDueDomains(partsOf(app))
  expect(names.queries.length).toBe(before)
})

test('a domain whose check fails does not delay those of others, and is checked again after growing delays', async () => {
  await using app = await start()
  const other = await registerOther(app)
  const broken = await add(app, 'broken.example.com')
  await add(app, 'shop.example.com')
  const domain = (await create(other, '/domains', { name: 'example.org' })) as Domain
  publish(domain)
  await app.db`
    create function fail() returns trigger as $$ begin raise exception 'cannot be stored'; end $$ language plpgsql`
  await app.db`
    create trigger fail before update of checks on domains for each row
    when (new.name like '%.example.com') execute function fail()`
  lines.length = 0
  await checkDueDomains(partsOf(app))
  expect(lines).toHaveLength(2)
  expect((await other.manage('GET', `/organization/domains/${domain.id}`)).body.data.status).toBe('verified')

  const delay = async () => {
    const [row] = await app.db<{ minutes: number }>`
      select round(extract(epoch from next_check_at - now()) / 60) as minutes from domains where name = ${broken.name}`
    return Number(row!.minutes)
  }
  const age = (hours: number) => app.db`
    update domains set created_at = now() - ${hours} * interval '1 hour', next_check_at = now() where name = ${broken.name}`
  expect(await delay()).toBe(5)
  await age(2)
  await checkDueDomains(partsOf(app))
  expect(await delay()).toBe(120)
  await age(200)
  await checkDueDomains(partsOf(app))
  expect(await delay()).toBe(720)
})

test('a TXT record with NUL, or cut within a character, is stored and shown without it', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  publish(domain)
  const spf = recordOf(domain, 'spf')
  zone.set(spf.name, { txt: ['v=spf1 \0x'] })
  const { status, body } = await verify(app, domain)
  expect([status, body.data?.status]).toEqual([200, 'verified'])
  expect(recordOf(body.data, 'spf').found).toBe('v=spf1 x')
  expect(foundCheck([`${'x'.repeat(1_999)}\u{1f600}`], null).found).toBe('x'.repeat(1_999))
})

test('names that only the resolver of the system knows are not looked up for tenants', async () => {
  zone.set('_waxwing.tenant.example', { cname: 'internal.corp.example' })
  zone.set('internal.corp.example', { txt: ['an internal secret'] })
  const system = new Resolver()
  system.setServers([names.address])
  const dns = await openDns('tenant.example', undefined, system)
  for (const name of ['_waxwing.tenant.example', 'internal.corp.example'])
    expect(await dns.ask(name, 'TXT')).toEqual({
      kind: 'unanswered',
      reason: `The public name servers of ${name} were not found.`,
    })
  expect(await dns.askOther('_waxwing.tenant.example', 'TXT')).toEqual({
    kind: 'found',
    values: ['an internal secret'],
  })
  dns.cancel()
})

test('a private key is never returned and not stored in plain text', async () => {
  await using app = await start()
  const domain = await add(app, 'example.com')
  expect(JSON.stringify(domain)).not.toMatch(/PRIVATE|key_encrypted|dkim_key/)
  const [row] = await app.db<{ dkimKey: Buffer }>`select dkim_key from domains`
  expect(row!.dkimKey.toString('latin1')).not.toContain('PRIVATE')

  // After a rotation of APP_SECRET, the key is encrypted with the new one.
  const rotated = { current: 'another secret, which is long enough', previous: app.secrets.current }
  await reseal(app.db, rotated, domainKeys)
  const [resealed] = await app.db<{ dkimKey: Buffer }>`select dkim_key from domains`
  const box = domainKeyBox({ current: 'another secret, which is long enough', previous: undefined })
  expect(box.open(resealed!.dkimKey)).toContain('PRIVATE KEY')
})

test('a domain whose key was encrypted with another secret is not verified until its key is rotated', async () => {
  await using app = await start({ REQUIRE_VERIFIED_DOMAINS: 'true' })
  const domain = await add(app, 'example.com')
  publish(domain)
  await verify(app, domain)
  const flow = { name: 'Hello', kind: 'transactional', subject: 'Hello', html: '<p>Hello</p>' }
  const mayUse = async () =>
    (await app.manage('POST', '/organization/flows', { ...flow, from_email: 'hello@example.com' })).status === 201

  const box = domainKeyBox({ current: 'another secret, which is long enough', previous: undefined })
  await app.db.statement`update domains set dkim_key = ${box.seal('a private key')}`
  // Also before a check finds it.
  expect(await mayUse()).toBe(false)
  const lost = (await verify(app, domain)).body.data
  expect(lost.status).toBe('unverified')
  expect(recordOf(lost, 'dkim')).toMatchObject({ status: 'wrong', found: recordOf(domain, 'dkim').value })
  expect(recordOf(lost, 'dkim').detail).toContain('another APP_SECRET')
  expect(await app.db`select from verified_domains`).toEqual([])
  expect(await mayUse()).toBe(false)
  const { steps } = (await app.manage('GET', '/organization/sending/setup')).body.data
  const step = steps.find(({ key }: { key: string }) => key === 'domain')
  expect(step).toMatchObject({ state: 'failing', message: expect.stringContaining('another APP_SECRET') })

  publish((await app.manage('POST', `/organization/domains/${domain.id}/rotate-key`)).body.data)
  expect((await verify(app, domain)).body.data).toMatchObject({ status: 'verified', is_rotating: false })
  expect(await mayUse()).toBe(true)
})

test('names that cannot be sending domains are rejected', async () => {
  await using app = await start()
  for (const name of [
    'localhost',
    '10.0.0.1',
    'com',
    'co.uk',
    'github.io',
    'herokuapp.com',
    'gmail.com',
    'Info@Outlook.com',
    'a b.com',
    'ada@',
    'https://',
    '..',
    'x'.repeat(300),
  ])
    expect([name, (await app.manage('POST', '/organization/domains', { name })).status]).toEqual([name, 422])
  await add(app, 'example.com')
  // The domain of what people paste.
  for (const name of ['EXAMPLE.com', 'https://Example.com/start?x=1', 'ada@example.com', 'example.com.'])
    expect([name, (await app.manage('POST', '/organization/domains', { name })).status]).toEqual([name, 409])
})
