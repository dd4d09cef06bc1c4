import { request } from 'node:http'
import { createTransport } from 'nodemailer'
import sharp from 'sharp'
import { beforeEach, expect, test } from 'vitest'
import { deliver, deliveryStatusMail } from '../../../test/support/bounce-sender.ts'
import { fill } from '../../../test/support/broadcasts.ts'
import { collectStatements } from '../../../test/support/collect-statements.ts'
import { createFlow, send } from '../../../test/support/flows.ts'
import { addImage } from '../../../test/support/images.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { type NameAnswer, type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { parseId } from '../../platform/values/ids.ts'
import { TrackingHosts } from './tracking-hosts.ts'

type Published = OtherRecords & { answer?: NameAnswer }
type Record = { purpose: string; type: string; name: string; value: string; status: string; detail: string | null }
type Domain = { id: string; name: string; status: string; records: Record[] }

/** What the name server knows. */
const zone = new Map<string, Published>()
const names = await startNameServer(
  (name) => zone.get(name)?.answer ?? (zone.has(name) ? [] : 'no such name'),
  (name) => zone.get(name) ?? {},
)
const relay = await startRelay()
const newApp = await startSharedApp({
  DNS_SERVERS: names.address,
  BASE_URL: 'https://wax.example.net',
  TRUST_PROXY: 'true',
  SMTP_URL: relay.url,
  BOUNCE_DOMAIN: 'bounces.wax.example.net',
  BOUNCE_SMTP_PORT: '0',
  BOUNCE_SMTP_HOST: '127.0.0.1',
  SUBMISSION_PORT: '0',
})
beforeEach(() => {
  zone.clear()
  zone.set('wax.example.net', { answer: ['192.0.2.7', '2001:db8::7'] })
  relay.mails.length = 0
})

function publish({ records }: Domain, purposes: string[]): void {
  for (const { purpose, type, name, value } of records) {
    if (!purposes.includes(purpose)) continue
    const record = type === 'CNAME' ? { cname: value } : type === 'MX' ? { mx: [value] } : { txt: [value] }
    zone.set(name, { ...zone.get(name), ...record })
  }
}
const add = async (app: TestApp, name: string, labels = {}): Promise<Domain> =>
  (await app.manage('POST', '/organization/domains', { name, ...labels })).body.data
const verify = async (app: TestApp, { id }: Domain): Promise<Domain> =>
  (await app.manage('POST', `/organization/domains/${id}/verify`)).body.data
const recordOf = ({ records }: Domain, purpose: string) => records.find((record) => record.purpose === purpose)!

/** Returns a function that publishes a record and returns its state. */
function checking(app: TestApp, domain: Domain, purpose: string) {
  const { name } = recordOf(domain, purpose)
  return async (published: Published | undefined) => {
    if (published) zone.set(name, published)
    else zone.delete(name)
    const { status, detail } = recordOf(await verify(app, domain), purpose)
    return [status, detail]
  }
}

/** Adds a domain, publishes its records and verifies it. */
async function verified(app: TestApp, name: string, hosts = ['return_path', 'tracking']): Promise<Domain> {
  const domain = await add(app, name)
  publish(domain, ['ownership', 'dkim', ...hosts])
  const checked = await verify(app, domain)
  expect(checked.status).toBe('verified')
  return checked
}

/** Sends a marketing email from the domain and returns it as the mail server received it. */
async function receive(app: TestApp, from: string, email = 'ada@example.com') {
  const flowId = await createFlow(app, {
    name: `Flow ${from} ${email} ${relay.mails.length}`,
    kind: 'marketing',
    html: '<p><a href="https://shop.example/sale">Sale</a></p>',
    from_email: from,
  })
  await app.manage('POST', '/organization/contacts', { email, subscription: 'subscribed' })
  const { body } = await send(app, flowId, { contact_email: email })
  const mail = await until('the email', () => relay.mails.find(({ recipient }) => recipient === email))
  const headers = Object.fromEntries(mail.mail.headers.map(({ key, value }) => [key, value]))
  const html = mail.mail.html ?? ''
  const urlOf = (pattern: RegExp) => new URL(pattern.exec(html)![0])
  return {
    messageId: body.data.message_id as string,
    sender: mail.sender,
    unsubscribe: headers['list-unsubscribe']!,
    open: urlOf(/https?:[^"]+\/t\/o\/[^"]+/),
    click: urlOf(/https?:[^"]+\/t\/c\/[^"]+/),
    page: urlOf(/https?:[^"]+\/u\/[^"]+/),
  }
}

/** Sends a request with any Host header, which `fetch` does not allow. */
function at(app: TestApp, host: string, path: string, { method = 'GET', headers = {} } = {}) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(`${app.url}${path}`, { method, headers: { host, ...headers } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('the record of a link host is an alias of our host or has its addresses; every other case is named', async () => {
  const app = await newApp()
  const domain = await add(app, 'tracked.example.com')
  const { name, value, type } = recordOf(domain, 'tracking')
  expect([name, type, value]).toEqual(['links.tracked.example.com', 'CNAME', 'wax.example.net'])
  const check = checking(app, domain, 'tracking')
  expect(await check(undefined)).toEqual(['missing', `There is no DNS record with the name ${name}.`])
  expect(await check({ txt: ['x'] })).toEqual(['missing', `${name} has no such CNAME record.`])
  expect(await check({ cname: 'Wax.example.net' })).toEqual(['ok', null])
  expect(await check({ cname: 'elsewhere.example.org' })).toEqual([
    'wrong',
    'The name points to another host than wax.example.net.',
  ])
  zone.set('alias.example.org', { cname: 'wax.example.net' })
  expect(await check({ cname: 'alias.example.org' })).toEqual(['ok', null])
  expect(await check({ answer: ['192.0.2.7'] })).toEqual(['ok', null])
  expect(await check({ answer: ['2001:db8::7'] })).toEqual(['ok', null])
  expect(await check({ answer: ['192.0.2.7', '198.51.100.1'] })).toEqual([
    'wrong',
    expect.stringContaining('has other addresses than wax.example.net. If your DNS provider proxies it'),
  ])
  expect(await check({ answer: 'failure' })).toEqual(['unknown', expect.stringContaining('SERVFAIL')])
  zone.set('wax.example.net', { answer: 'failure' })
  expect(await check({ answer: ['192.0.2.7'] })).toEqual(['unknown', expect.stringContaining('wax.example.net')])
})

test('the record of the return path leads to us first, and SPF is asked for at its host', async () => {
  const app = await newApp()
  const domain = await add(app, 'returned.example.com')
  const { name, value, type } = recordOf(domain, 'return_path')
  expect([name, type, value]).toEqual(['bounces.returned.example.com', 'MX', '10 wax.example.net'])
  expect(recordOf(domain, 'spf').name).toBe(name)
  const check = checking(app, domain, 'return_path')
  expect(await check(undefined)).toEqual(['missing', `There is no DNS record with the name ${name}.`])
  expect(await check({ txt: ['x'] })).toEqual(['missing', `${name} has no such MX record.`])
  expect(await check({ mx: ['20 backup.example.org', '5 Wax.example.net'] })).toEqual(['ok', null])
  expect(await check({ mx: ['5 mx.example.org', '10 wax.example.net'] })).toEqual([
    'wrong',
    'Bounces go to mx.example.org instead of wax.example.net.',
  ])
  expect(await check({ answer: 'failure' })).toEqual(['unknown', expect.stringContaining('SERVFAIL')])
  // The installation receives its bounces through another host, which forwards them.
  zone.set('bounces.wax.example.net', { mx: ['10 mx.example.org'] })
  expect(await check({ mx: ['5 mx.example.org'] })).toEqual(['ok', null])
  expect(await check({ cname: 'bounces.wax.example.net' })).toEqual(['ok', null])
})

test('an email carries the hosts of its domain while their records are found, and its bounces are recorded', async () => {
  const app = await newApp()
  const domain = await verified(app, 'shop.example.com')
  const hostsOf = (mail: Awaited<ReturnType<typeof receive>>) => [
    ...[mail.open, mail.click, mail.page].map(({ origin }) => origin),
    /<(https:\/\/[^/]+)\/u\//.exec(mail.unsubscribe)?.[1],
    /<mailto:[^@]+@([^>?]+)/.exec(mail.unsubscribe)?.[1],
    mail.sender.split('@')[1],
  ]
  const link = 'https://links.shop.example.com'
  const [mine, theirs] = ['bounces.shop.example.com', 'bounces.wax.example.net']
  const first = await receive(app, 'a@shop.example.com')
  expect(hostsOf(first)).toEqual([link, link, link, link, mine, mine])

  // An email from another address, and one while the name servers fail.
  const base = 'https://wax.example.net'
  const other = await receive(app, 'a@unknown.example.com', 'bob@example.com')
  expect(hostsOf(other)).toEqual([base, base, base, base, theirs, theirs])
  zone.set(recordOf(domain, 'tracking').name, { answer: 'failure' })
  zone.set(mine, { answer: 'failure' })
  await verify(app, domain)
  expect(hostsOf(await receive(app, 'a@shop.example.com', 'cem@example.com'))).toEqual(hostsOf(first))

  // Both records vanish: new emails carry the hosts of the installation. A bounce of an earlier one is still recorded.
  for (const purpose of ['tracking', 'return_path']) zone.delete(recordOf(domain, purpose).name)
  await verify(app, domain)
  expect(hostsOf(await receive(app, 'a@shop.example.com', 'dan@example.com'))).toEqual(hostsOf(other))
  const bounce = (to: string) => deliver(app.app.bouncePort()!, '', to, deliveryStatusMail(to))
  expect(await bounce(first.sender)).toMatchObject({ kind: 'accepted' })
  expect((await getMessage(app, first.messageId)).status).toBe('bounced')
  expect(await bounce(first.sender.replace('shop.example.com', 'example.org'))).toMatchObject({ kind: 'refused' })
})

test('emails of broadcasts, without a flow and by SMTP carry the hosts as well', async () => {
  const app = await newApp()
  await verified(app, 'all.example.com')
  const html = '<p><a href="https://shop.example/">Shop</a></p>'
  const from = 'x@all.example.com'
  await app.publicApi('POST', '/emails', { from, to: 'api@example.com', subject: 'Hi', html })
  const smtp = createTransport({
    host: '127.0.0.1',
    port: app.app.submissionPorts().port!,
    ignoreTLS: true,
    auth: { user: 'waxwing', pass: app.apiKey },
  })
  await smtp.sendMail({ from, to: 'smtp@example.com', subject: 'Hi', html, headers: { 'X-Waxwing-Track': 'clicks' } })
  smtp.close()
  const { group, create, flow } = await fill(app)
  await app.manage('PATCH', `/organization/flows/${flow}`, { from_email: from })
  const broadcast = await create([await group('Readers', ['reader@example.com'])])
  await broadcast.start()
  await until('three emails', () => relay.mails.length === 3)
  for (const { recipient, sender, mail } of relay.mails)
    expect([recipient, sender.split('@')[1], /href="(https:\/\/[^/]+\/t\/c\/)/.exec(mail.html!)?.[1]]).toEqual([
      recipient,
      'bounces.all.example.com',
      'https://links.all.example.com/t/c/',
    ])
})

test('images of the gallery are loaded from the link host, and texts, links and images of others stay', async () => {
  const [app, other] = [await newApp(), await newApp()]
  await verified(app, 'pictures.example.com')
  const png = await sharp({ create: { width: 4, height: 3, channels: 3, background: '#c84' } })
    .png()
    .toBuffer()
  const [mine, theirs] = [(await addImage(app, png)).url, (await addImage(other, png)).url]
  const html = (url: string) =>
    `<img src=${url}><td background="${url}" style="background:url('${url}')">${mine}</td><img src="${theirs}"><!-- ${mine} -->`
  const email = { from: 'x@pictures.example.com', to: 'ada@example.com', subject: 'Hi', html: html(mine) }
  await app.publicApi('POST', '/emails', email)
  const { mail } = await until('the email', () => relay.mails[0])
  const moved = mine.replace('https://wax.example.net/', 'https://links.pictures.example.com/')
  expect(moved).not.toBe(mine)
  expect(mail.html).toContain(html(moved))
  expect(await at(app, 'links.pictures.example.com', new URL(moved).pathname)).toBe(200)
  expect(await at(app, 'links.pictures.example.com', new URL(theirs).pathname)).toBe(404)
})

test('the link of one organization is rejected at the host of another, and nothing is recorded', async () => {
  const [app, other] = [await newApp(), await newApp()]
  await verified(app, 'a.example.com')
  await verified(other, 'b.example.com')
  const { messageId, open, click, page } = await receive(app, 'x@a.example.com')
  const paths = [open, click, page].map(({ pathname }) => pathname)
  for (const path of paths) expect([path, await at(app, 'links.b.example.com', path)]).toEqual([path, 404])
  expect(await at(app, 'Links.B.example.com.:443', open.pathname)).toBe(404)
  expect(await at(app, 'links.b.example.com', page.pathname, { method: 'POST' })).toBe(404)
  expect(await at(app, 'links.b.example.com', `${page.pathname}/undo`, { method: 'POST' })).toBe(404)
  const events = async () =>
    (await getMessage(app, messageId)).events.map(({ event_name: eventName }: { event_name: string }) => eventName)
  await until('the event of the email', async () => (await events()).length > 0)
  expect(await events()).toEqual(['emailSent'])

  // A host that is not registered may be the one that a proxy inserts.
  for (const host of ['links.a.example.com', 'wax.example.net', 'proxy.internal.example', '127.0.0.1:3000']) {
    expect([host, await at(app, host, open.pathname)]).toEqual([host, 200])
    expect([host, await at(app, host, click.pathname)]).toEqual([host, 302])
  }
  expect(await at(app, 'links.a.example.com', page.pathname, { method: 'POST' })).toBe(200)
})

test('the host of an organization serves links only, and no other page of the service', async () => {
  const app = await newApp()
  await verified(app, 'pages.example.com')
  const headers = { accept: 'text/html' }
  const host = 'links.pages.example.com'
  for (const path of ['/', '/login', '/docs/', '/health', '/api/v1/auth/login', '/openapi.json', '/nothing'])
    expect([path, await at(app, host, path, { headers })]).toEqual([path, 404])
  expect(await at(app, host, '/robots.txt')).toBe(200)
  expect(await at(app, 'wax.example.net', '/health')).toBe(200)
  expect(await at(app, 'wax.example.net', '/health', { headers: { 'x-forwarded-host': host } })).toBe(404)
})

test('a certificate is requested for known hosts only, and unknown names cause hardly any query', async () => {
  const app = await newApp()
  const domain = await verified(app, 'tls.example.com')
  const ask = async (name: string) => (await app.call('GET', `/tls/ask?domain=${encodeURIComponent(name)}`)).status
  expect(await Promise.all(['wax.example.net', 'links.tls.example.com', 'LINKS.tls.example.com.'].map(ask))).toEqual([
    200, 200, 200,
  ])
  for (const name of ['tls.example.com', 'evil.example.org', '192.0.2.7', "'", 'x'.repeat(300)])
    expect([name, await ask(name)]).toEqual([name, 404])
  expect((await app.call('GET', '/tls/ask')).status).toBe(422)

  const hosts = new TrackingHosts(app.db, () => 'https://wax.example.net')
  {
    using statements = collectStatements()
    for (let i = 0; i < 10_000; i++) expect(await hosts.needsCertificate(`n${i}.example.org`)).toBe(false)
    expect(await hosts.needsCertificate('links.tls.example.com')).toBe(true)
    expect(statements.texts.filter((text) => text.includes('tracking_hosts')).length).toBeLessThan(5)
  }

  await app.manage('DELETE', `/organization/domains/${domain.id}`)
  expect(await ask('links.tls.example.com')).toBe(404)
})

test('an organization gets certificates for a hundred new hosts a day, however it changes them', async () => {
  const [app, other] = [await newApp(), await newApp()]
  const hosts = new TrackingHosts(app.db, () => 'https://wax.example.net')
  const register = async ({ organizationId }: TestApp, names: string[]) => {
    await app.db.statement`
      insert into tracking_hosts (host, organization_id) select unnest(${names}::text[]), ${parseId('org', organizationId)!}`
    hosts.forget()
  }
  const certified = async (names: string[]) =>
    (await Promise.all(names.map((name) => hosts.needsCertificate(name)))).filter(Boolean).length
  const named = (label: string, count = 90) =>
    Array.from({ length: count }, (_, index) => `${label}${index}.example.com`)
  await register(app, named('old', 150))
  expect(await certified(named('old', 150))).toBe(150)
  await register(app, named('a'))
  expect(await certified(named('a'))).toBe(90)
  await app.db.statement`delete from tracking_hosts where host like 'a%.example.com'`
  await register(app, named('b'))
  expect(await certified(named('b'))).toBe(10)
  hosts.forget()
  expect(await certified([...named('b'), ...named('old', 150)])).toBe(160)
  await register(other, named('c'))
  expect(await certified(named('c'))).toBe(90)
  await app.db.statement`delete from tracking_hosts where host like '%.example.com'`
})

test('the hosts of a domain can be named differently', async () => {
  const app = await newApp()
  const domain = await add(app, 'named.example.com', { tracking_label: 'click' })
  expect(recordOf(domain, 'tracking').name).toBe('click.named.example.com')
  publish(domain, ['ownership', 'dkim', 'tracking'])
  await verify(app, domain)
  const change = (labels: object) => app.manage('PATCH', `/organization/domains/${domain.id}`, labels)
  const changed = (await change({ tracking_label: 'Go', return_path_label: 'mail' })).body.data as Domain
  expect(changed).toMatchObject({ tracking_label: 'go', return_path_label: 'mail' })
  expect(recordOf(changed, 'tracking')).toMatchObject({ name: 'go.named.example.com', status: 'unknown' })
  expect(recordOf(changed, 'ownership').status).toBe('ok')
  const mail = await receive(app, 'x@named.example.com')
  expect(mail.open.origin).toBe('https://wax.example.net')

  for (const labels of [
    { tracking_label: 'a.b' },
    { tracking_label: '' },
    { tracking_label: '-x' },
    { return_path_label: 'go' },
    { tracking_label: 'x'.repeat(64) },
  ])
    expect([labels, (await change(labels)).status]).toEqual([labels, 422])
  const ours = { name: 'example.net', tracking_label: 'wax' }
  expect((await app.manage('POST', '/organization/domains', ours)).status).toBe(422)
})
