import { expect, test } from 'vitest'
import { unpackProgram } from './releases/releases.ts'
import { fill } from './support/broadcasts.ts'
import { person } from './support/readers.ts'
import { type ReceivedEmail, startRelay } from './support/relay.ts'
import { create } from './support/resources.ts'
import { newCustomer, type Service, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { createTestDb } from './support/test-db.ts'
import { until } from './support/until.ts'
import { type Receiver, startReceiver } from './support/webhook-receiver.ts'

// Processes of the previous release and of this version on one database, as while an installation is upgraded. The program
// of the previous release is part of its fixture, and uses the dependencies of this version.

const released = '0.2.0'

const flow = {
  name: 'Offers',
  kind: 'marketing',
  subject: 'Offers',
  html: '<p>See <a href="https://shop.example/offers">our offers</a>.</p>',
}
const people = ['one@example.com', 'two@example.com', 'three@example.com', 'four@example.com']

/** The paths of the pixel, the tracked link and the unsubscribe link. */
function linksIn({ mail, raw }: ReceivedEmail) {
  const html = mail.html ?? ''
  const pathAt = (pattern: RegExp, text: string) => new URL(pattern.exec(text)?.[1] ?? raw).pathname
  const header = mail.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? ''
  return {
    pixel: pathAt(/src="(http[^"]*\/t\/o\/[^"]*)"/, html),
    click: pathAt(/href="(http[^"]*\/t\/c\/[^"]*)"/, html),
    unsubscribe: pathAt(/<(http[^>]*\/u\/[^>]*)>/, header),
  }
}

/** How many events of each kind arrived, each once. */
function eventsAt({ posts }: Receiver): Record<string, number> {
  const bodies = new Map(posts.map(({ headers, body }) => [headers['webhook-id'], body]))
  const counts: Record<string, number> = {}
  for (const body of bodies.values()) {
    const { event_name: name } = JSON.parse(body.toString())
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

test.for(['old', 'new'])(
  'while an installation is upgraded, everything works with the %s worker, and with web servers of both versions',
  { timeout: 240_000 },
  async (worker) => {
    using old = await unpackProgram(released)
    await using database = await createTestDb({ empty: true })
    await using relay = await startRelay()
    await using receiver = await startReceiver((response) => response.end(), { plain: true })
    const environment = { DATABASE_URL: database.url, SMTP_URL: relay.url }
    const start = (command: 'serve' | 'work', version: string) =>
      startService(command, environment, version === 'old' ? { program: old.folder } : {})
    // Old processes come first, since they do not start on a database that was migrated.
    await using oldServer = await start('serve', 'old')
    await using _oldWorker = worker === 'old' ? await start('work', 'old') : undefined
    await using newServer = await start('serve', 'new')
    await using _newWorker = worker === 'new' ? await start('work', 'new') : undefined
    const pairs: [Service, Service][] = [
      [oldServer, newServer],
      [newServer, oldServer],
    ]
    const customer = await newCustomer(oldServer.url)
    const callPublic = ({ url }: Service, path: string, body: unknown, headers = {}) =>
      callUrl('POST', `${url}/public/api/v1${path}`, { headers: { 'x-api-token': customer.apiKey, ...headers }, body })
    const flowId = (await create(customer, '/flows', flow)).id
    await create(customer, '/webhooks', { name: 'CRM', url: receiver.url(), all_events: true })
    const broadcasts = await fill({
      manage: customer.manage,
      publicApi: (_method, path, body) => callPublic(newServer, path, body),
    })
    const groupId = await broadcasts.group('Customers', people)

    // Each request is repeated in the other version, and each version starts a broadcast.
    for (const [index, [server, other]] of pairs.entries()) {
      const own = { from: 'shop@example.com', to: [`a${index}@example.com`, `b${index}@example.com`], subject: 'Hello' }
      const requests: [string, object][] = [
        ['/flow/send-email-through-flow', { flow_id: flowId, contact_email: people[index] }],
        ['/emails', { ...own, html: '<p>Hello</p>' }],
        ['/emails/batch', [{ ...own, text: 'Hello' }, { to: 'nobody' }]],
      ]
      for (const [path, body] of requests) {
        const key = { 'idempotency-key': `${path}-${index}` }
        const first = await callPublic(server, path, body, key)
        const again = await callPublic(other, path, body, key)
        expect([first.status, first.body.data], first.text).toEqual([200, again.body.data])
        expect(again.headers.get('idempotent-replayed')).toBe('true')
      }
      const broadcast = await broadcasts.create([groupId])
      const started = await callUrl('POST', `${server.url}/api/v1/organization/broadcasts/${broadcast.id}/start`, {
        headers: { authorization: `Bearer ${customer.session}` },
        body: { expected_recipients: people.length },
      })
      expect(started.status).toBe(202)
      await broadcast.ended()
    }
    await until('all emails', () => relay.mails.length >= 18)

    // Each reader reaches both versions, and unsubscribes through one of them.
    const tracked = relay.mails.filter(({ mail }) => mail.subject !== 'Hello')
    expect(tracked).toHaveLength(10)
    for (const [index, email] of tracked.entries()) {
      const links = linksIn(email)
      for (const { url } of [oldServer, newServer]) {
        const get = (path: string) => callUrl('GET', url + path, { headers: { 'user-agent': person } })
        const answers = [await get(links.pixel), await get(links.click), await get(links.unsubscribe)]
        expect(answers.map(({ status }) => status)).toEqual([200, 302, 200])
      }
      const left = await callUrl('POST', pairs[index % 2]![0].url + links.unsubscribe, {
        raw: 'List-Unsubscribe=One-Click',
      })
      expect(left.status).toBe(200)
    }
    const contacts = (await customer.manage('GET', '/organization/contacts?status=unsubscribed')).body.data
    expect(contacts.map(({ email }: { email: string }) => email).toSorted()).toEqual(people.toSorted())
    const expected = { emailSent: 18, emailOpen: 20, emailClick: 20, contactUnsubscribe: people.length }
    await until('all webhooks', () => {
      const found = eventsAt(receiver)
      return Object.entries(expected).every(([name, count]) => (found[name] ?? 0) >= count)
    })
    expect(eventsAt(receiver)).toMatchObject(expected)
  },
)
