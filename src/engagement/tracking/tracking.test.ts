import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clickPath, person, type StoredEvent, startWithReader, tokens } from '../../../test/support/readers.ts'
import { callUrl } from '../../../test/support/test-app.ts'
import { newId, toText } from '../../platform/values/ids.ts'

const shop = 'https://shop.example/orders/1042?ref=mail&x=1#top'

let app: Awaited<ReturnType<typeof startWithReader>>
beforeAll(async () => {
  app = await startWithReader({ TRUST_PROXY: 'true' })
})
afterAll(() => app[Symbol.asyncDispose]())

test('a pixel is an uncached GIF of 43 bytes, and the open is recorded before the response', async () => {
  const reader = await app.newReader()
  const { ids } = reader
  const response = await fetch(`${app.url}/t/o/${tokens.sign('email', ids)}`, { headers: { 'user-agent': person } })
  const bytes = new Uint8Array(await response.arrayBuffer())
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('image/gif')
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect([bytes.length, new TextDecoder().decode(bytes.slice(0, 6))]).toEqual([43, 'GIF89a'])
  expect(await reader.events()).toMatchObject([
    {
      eventName: 'emailOpen',
      messageId: ids.messageId,
      contactId: ids.contactId,
      machine: false,
      data: { user_agent: person },
    },
  ])
})

test('a link redirects to its signed destination, and the click is recorded before the response', async () => {
  const reader = await app.newReader()
  const answer = await app.get(clickPath(reader.ids, shop))
  expect([answer.status, answer.headers.get('location')]).toEqual([302, shop])
  expect(await reader.events()).toMatchObject([{ eventName: 'emailClick', machine: false, data: { url: shop } }])
})

test('HEAD responds like GET and records nothing', async () => {
  const reader = await app.newReader()
  const open = await app.get(`/t/o/${tokens.sign('email', reader.ids)}`, {}, 'HEAD')
  const click = await app.get(clickPath(reader.ids, shop), {}, 'HEAD')
  const page = await app.get(`/u/${tokens.sign('unsubscribe_link', reader.ids)}`, {}, 'HEAD')
  expect([open.status, open.headers.get('content-type')]).toEqual([200, 'image/gif'])
  expect([click.status, click.headers.get('location')]).toEqual([302, shop])
  expect(page.status).toBe(200)
  expect(await reader.events()).toEqual([])
})

test('a modified token is rejected and records nothing', async () => {
  const reader = await app.newReader()
  const links = [clickPath(reader.ids, shop), `/t/c/${tokens.sign('click', { ...reader.ids, url: shop })}`]
  const start = '/t/c/'.length
  const changed = fc
    .tuple(fc.constantFrom(...links), fc.nat(), fc.constantFrom(...'ABCabc019-_'))
    .map(([link, place, to]) => {
      const at = start + (place % (link.length - start))
      return link.slice(0, at) + to + link.slice(at + 1)
    })
    .filter((link) => !links.includes(link))
  const cut = fc
    .tuple(fc.constantFrom(...links), fc.nat())
    .map(([link, length]) => link.slice(0, start + (length % (link.length - start))))
  const noise = fc.string({ maxLength: 300 }).map((text) => `/t/c/${encodeURIComponent(text)}`)
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, cut, noise), async (link) => {
      const answer = await app.get(link)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('location')).toBeNull()
    }),
    { numRuns: 80 },
  )
  expect(await reader.events()).toEqual([])
})

test('a token for another purpose or another flow is rejected', async () => {
  const reader = await app.newReader()
  const { ids } = reader
  const email = tokens.sign('email', ids)
  const leave = tokens.sign('unsubscribe_link', ids)
  const destination = tokens.signDestination(ids, { url: shop })
  const open = tokens.sign('open', ids)
  const click = tokens.sign('click', { ...ids, url: shop })
  const unsubscribe = tokens.sign('unsubscribe', ids)
  const ofOthers = [
    { ...ids, flowId: newId('flw') },
    { ...ids, organizationId: newId('org') },
  ]
  const answers = await Promise.all([
    app.get(`/t/o/${click}`),
    app.get(`/t/o/${unsubscribe}`),
    app.get(`/t/o/${destination}`),
    ...[open, unsubscribe, email, destination, `${open}/${destination}`, `${email}/${email}`, `${email}/${click}`].map(
      (tokens) => app.get(`/t/c/${tokens}`),
    ),
    ...ofOthers.map((others) => app.get(`/t/c/${email}/${tokens.signDestination(others, { url: shop })}`)),
    app.get(`/t/c/${leave}/${destination}`),
    app.get(`/t/o/${leave}`),
    ...[open, email, click, destination].flatMap((token) => [
      app.get(`/u/${token}`),
      callUrl('POST', `${app.url}/u/${token}`, { raw: 'List-Unsubscribe=One-Click' }),
      callUrl('POST', `${app.url}/u/${token}/undo`),
    ]),
  ])
  expect(answers.filter(({ status }) => status !== 404)).toEqual([])
  expect(answers[0]!.headers.get('content-type')).toBe('image/gif')
  expect(answers[3]!.text).toContain('This link doesn’t work')
  expect(await reader.events()).toEqual([])
  expect(await app.subscription(reader.email)).not.toBe('unsubscribed')
})

test('the links of emails from before they shared a token still work', async () => {
  const reader = await app.newReader()
  const { ids } = reader
  const query = 'utm_source=news'
  const open = await app.get(`/t/o/${tokens.sign('open', ids)}`)
  const click = await app.get(`/t/c/${tokens.sign('click', { ...ids, url: shop, query })}`)
  const test = await app.get(`/t/c/${tokens.sign('test_click', { ...ids, url: shop })}`)
  const left = await callUrl('POST', `${app.url}/u/${tokens.sign('unsubscribe', ids)}`)
  expect([open, click, test, left].map(({ status }) => status)).toEqual([200, 302, 307, 200])
  expect(click.headers.get('location')).toBe('https://shop.example/orders/1042?ref=mail&x=1&utm_source=news#top')
  expect((await reader.events()).map(({ eventName }) => eventName)).toEqual([
    'emailOpen',
    'emailClick',
    'contactUnsubscribe',
  ])
  expect(await app.subscription(reader.email)).toBe('unsubscribed')
})

test('an overlong or malformed token is rejected like any other', async () => {
  const { ids } = await app.newReader()
  const email = tokens.sign('email', ids)
  // They begin with the id of the key, as a token does.
  const overlong = [5_400, 5_448, 5_500, 5_600, 6_000].map((length) => `${email.slice(0, 2)}${'A'.repeat(length - 2)}`)
  for (const destination of overlong) expect((await app.get(`/t/c/${email}/${destination}`)).status).toBe(404)
  for (const token of [...overlong, 'a'.repeat(10_000), 'abc%', 'abc%zz', 'abc%ff%41', 'abc%?ref=50%']) {
    const answers = await Promise.all([
      app.get(`/t/o/${token}`),
      app.get(`/t/c/${token}`),
      app.get(`/u/${token}`),
      callUrl('POST', `${app.url}/u/${token}`),
    ])
    expect(answers.map(({ status, headers }) => [status, headers.get('content-type')])).toEqual([
      [404, 'image/gif'],
      [404, 'text/html; charset=utf-8'],
      [404, 'text/html; charset=utf-8'],
      [404, 'text/html; charset=utf-8'],
    ])
  }
})

test('a signed destination that is not a web address is not redirected to', async () => {
  const reader = await app.newReader()
  for (const url of ['javascript:alert(1)', 'https://shop.example/\r\nset-cookie: a=b', 'ftp://shop.example/']) {
    const answer = await app.get(clickPath(reader.ids, url))
    expect([url, answer.status, answer.headers.get('location')]).toEqual([url, 404, null])
  }
})

test('machines are labelled by their user agent and counted', async () => {
  const reader = await app.newReader()
  const open = `/t/o/${tokens.sign('email', reader.ids)}`
  await app.get(open, { 'user-agent': 'Mozilla/5.0' })
  await app.get(open, { 'user-agent': 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko (via ggpht.com GoogleImageProxy)' })
  await app.get(open, { 'user-agent': 'Barracuda Sentinel (EE)' })
  expect((await reader.events()).map(({ machine, machineReason }) => [machine, machineReason])).toEqual([
    [true, 'privacy_proxy'],
    [false, null],
    [true, 'security_scanner'],
  ])
})

test('clicks on three links within three seconds are labelled as a machine, including the first', async () => {
  const reader = await app.newReader()
  const click = (page: number) => app.get(clickPath(reader.ids, `https://shop.example/${page}`))
  await click(1)
  // At the same time, because two more round trips may take longer than three seconds on a busy machine.
  await Promise.all([click(2), click(3)])
  expect((await reader.events()).map(({ machineReason }) => machineReason)).toEqual(['burst', 'burst', 'burst'])
})

test('a user agent is stored as one short line', async () => {
  const reader = await app.newReader()
  await app.get(`/t/o/${tokens.sign('email', reader.ids)}`, { 'user-agent': `a\tb${'c'.repeat(5_000)}` })
  const [event] = await reader.events()
  expect(event!.data.user_agent).toHaveLength(512)
  expect(event!.data.user_agent!.startsWith('a bccc')).toBe(true)
})

/**
 * Repeats a hit until its address is stored, and returns the addresses of all hits. An address is not stored if the
 * database takes longer than 100 ms to respond, which may happen on a busy machine. A cached setting would last longer
 * than all of these hits.
 */
async function hitUntilStored(path: string, events: () => Promise<StoredEvent[]>): Promise<unknown[]> {
  const before = (await events()).length
  for (let hits = 1; ; hits++) {
    await app.get(path, { 'x-forwarded-for': '203.0.113.7' })
    const addresses = (await events()).slice(before).map(({ data }) => data.ip)
    if (addresses.at(-1) || hits === 10) return addresses
  }
}

test('IP addresses are stored only if the organization enables it', async () => {
  const reader = await app.newReader()
  await app.get(`/t/o/${tokens.sign('email', reader.ids)}`, { 'x-forwarded-for': '203.0.113.7' })
  expect((await reader.events()).map(({ data }) => data.ip)).toEqual([undefined])
  const other = await app.call('POST', '/api/v1/auth/register', {
    body: { organization_name: 'Keeper', email: 'owner@keeper.example', password: 'correct horse battery' },
  })
  await app.db.statement`update organizations set keep_addresses = true where name = 'Keeper'`
  const [keeper] = await app.db<{
    id: typeof reader.ids.organizationId
  }>`select id from organizations where name = 'Keeper'`
  expect(other.status).toBe(201)
  await app.db.statement`
    insert into contacts (organization_id, id, email, email_key, subscription)
    values (${keeper!.id}, ${reader.ids.contactId}, ${reader.email}, ${reader.email}, 'subscribed')`
  const open = `/t/o/${tokens.sign('email', { ...reader.ids, organizationId: keeper!.id })}`
  expect((await hitUntilStored(open, reader.events)).at(-1)).toBe('203.0.113.7')
})

test('changing whether IP addresses are stored takes effect immediately', async () => {
  const reader = await app.newReader()
  const open = `/t/o/${tokens.sign('email', reader.ids)}`
  for (let n = 0; n < 2; n++) {
    await app.manage('PATCH', '/organization', { keep_addresses: true })
    expect((await hitUntilStored(open, reader.events)).at(-1)).toBe('203.0.113.7')
    await app.manage('PATCH', '/organization', { keep_addresses: false })
    await app.get(open, { 'x-forwarded-for': '203.0.113.7' })
    expect((await reader.events()).at(-1)!.data.ip).toBeUndefined()
  }
})

test('concurrent hits are each recorded once', async () => {
  // 40 hits per message stay below the limit.
  const readers = await Promise.all(Array.from({ length: 5 }, () => app.newReader()))
  const paths = readers.map(({ ids }) => `/t/o/${tokens.sign('email', ids)}`)
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => app.get(paths[n % 5]!)))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const events = await Promise.all(readers.map((reader) => reader.events()))
  expect(events.map(({ length }) => length)).toEqual([40, 40, 40, 40, 40])
  expect(new Set(events.flat().map(({ id }) => id)).size).toBe(200)
})

test('after an erasure, opens and clicks of old emails count without personal data', async () => {
  await app.manage('PATCH', '/organization', { keep_addresses: true })
  const reader = await app.newReader()
  await app.manage('DELETE', `/organization/contacts/${toText('con', reader.ids.contactId)}`)
  const from = { 'x-forwarded-for': '203.0.113.7' }
  await app.get(`/t/o/${tokens.sign('email', reader.ids)}`, from)
  const click = await app.get(clickPath(reader.ids, shop), from)
  expect(click.headers.get('location')).toBe(shop)
  const stored = await reader.events()
  expect(stored.map(({ eventName, data }) => [eventName, data])).toEqual([
    ['emailOpen', {}],
    ['emailClick', {}],
  ])
})
