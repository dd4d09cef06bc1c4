import { expect, test } from 'vitest'
import { type NameAnswer, startNameServer } from '../../../test/support/name-server.ts'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { receiverCa, startReceiver } from '../../../test/support/webhook-receiver.ts'
import { type Resolve, resolveByNameServers } from './resolve.ts'
import { createSafePost, type SafePostOptions } from './safe-post.ts'

const post = { headers: { 'Content-Type': 'application/json' }, body: '{}' }

/** The rules of production; only who is trusted and who is asked for names is set. */
function startSafePost(options: Partial<SafePostOptions> = {}) {
  const safePost = createSafePost({ timeoutMs: 20_000, allowPrivate: false, ca: receiverCa, ...options })
  return {
    to: (url: string) => safePost.post(url, post.headers, post.body),
    [Symbol.dispose]: () => safePost.close(),
  }
}

/** On loopback one address plays the public one. */
const isAllowed = (address: string) => address === '127.0.0.1'

const naming =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

test('a name that resolves to a private address is not connected to', async () => {
  await using receiver = await startReceiver((response) => response.end())
  await using names = await startNameServer(() => ['127.0.0.1'])
  using safe = startSafePost({ lookup: resolveByNameServers([names.address]) })

  const outcome = await safe.to(receiver.url('hooks.receiver.test'))

  expect(outcome).toMatchObject({ kind: 'unreachable', because: 'resolves to the non-public address 127.0.0.1' })
  expect(names.queries).toEqual(['hooks.receiver.test'])
  expect(receiver.count.connections).toBe(0)
})

test('a name with one private address among public ones is rejected', async () => {
  await using receiver = await startReceiver((response) => response.end())

  for (const [bad, ...addresses] of [
    ['127.0.0.2', '127.0.0.1', '127.0.0.2'],
    ['127.0.0.2', '127.0.0.2', '127.0.0.1'],
    ['::1', '127.0.0.1', '::1'],
  ] as const) {
    using safe = startSafePost({ isAllowed, lookup: naming(...addresses) })
    expect(await safe.to(receiver.url())).toMatchObject({ because: `resolves to the non-public address ${bad}` })
  }
  expect(receiver.count.connections).toBe(0)
})

test('a name rebound to a private address is rejected', async () => {
  await using outside = await startReceiver((response) => response.end())
  await using inside = await startReceiver((response) => response.end(), { host: '127.0.0.2', port: outside.port })
  let answers: NameAnswer = ['127.0.0.1']
  await using names = await startNameServer(() => answers)
  using safe = startSafePost({ isAllowed, lookup: resolveByNameServers([names.address]) })

  expect(await safe.to(outside.url('receiver.test'))).toMatchObject({ kind: 'acknowledged' })
  answers = ['127.0.0.2']
  outside.closeConnections()
  await outside.closed
  const outcome = await safe.to(outside.url('receiver.test'))

  expect(outcome).toMatchObject({ kind: 'unreachable', because: 'resolves to the non-public address 127.0.0.2' })
  expect(inside.count.connections).toBe(0)
})

test('a name is resolved once per connection, which uses the checked address', async () => {
  await using outside = await startReceiver((response) => response.end())
  await using inside = await startReceiver((response) => response.end(), { host: '127.0.0.2', port: outside.port })
  let asked = 0
  const lookup: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
  using safe = startSafePost({ isAllowed, lookup })

  expect(await safe.to(outside.url('receiver.test'))).toMatchObject({ kind: 'acknowledged' })
  expect(asked).toBe(1)
  expect(outside.posts[0]!.headers.host).toBe(`receiver.test:${outside.port}`)
  expect(inside.count.connections).toBe(0)
})

test('the certificate is verified against the name, not the address', async () => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost({ isAllowed, lookup: naming('127.0.0.1') })

  expect(await safe.to(receiver.url('elsewhere.test'))).toMatchObject({
    because: 'the certificate is not valid for this name',
  })
})

test('if an address refuses the connection, the next one is tried', async () => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost({ isAllowed: () => true, lookup: naming('127.0.0.3', '127.0.0.4', '127.0.0.1') })

  expect(await safe.to(receiver.url('receiver.test'))).toMatchObject({ kind: 'acknowledged' })
})

test.each([
  '127.0.0.1',
  '2130706433',
  '0177.0.0.1',
  '0x7f.1',
  '127.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '%31%32%37.0.0.1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
])('the literal %s is refused at connect time too, in any spelling', async (host) => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost({ lookup: naming('127.0.0.1') })

  const outcome = await safe.to(receiver.url(host))

  expect(outcome).toMatchObject({
    kind: 'unreachable',
    because: expect.stringMatching(/^\S+ is not a public address$/),
  })
  expect(receiver.count.connections).toBe(0)
})

test('an allowed literal address is connected to, and its certificate must contain it', async () => {
  await using receiver = await startReceiver((response) => response.end())
  await using misnamed = await startReceiver((response) => response.end(), {
    certificate: 'webhook-receiver-wrong-name',
  })
  using safe = startSafePost({ isAllowed })

  expect(await safe.to(receiver.url('127.0.0.1'))).toMatchObject({ kind: 'acknowledged' })
  expect(await safe.to(misnamed.url('127.0.0.1'))).toMatchObject({
    because: 'the certificate is not valid for this name',
  })
})

test('http is rejected without a lookup', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  using safe = startSafePost({ isAllowed, lookup: () => Promise.reject(new Error('asked')) })

  expect(await safe.to(receiver.url('receiver.test'))).toMatchObject({ because: 'is not an https address' })
  expect(receiver.count.connections).toBe(0)
})

test('http to a private address works if both are allowed', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  using safe = startSafePost({ allowPrivate: true })

  expect(await safe.to(receiver.url('127.0.0.1'))).toMatchObject({ kind: 'acknowledged' })
  expect(await safe.to(receiver.url('localhost'))).toMatchObject({ kind: 'acknowledged' })
})

test.each<[NameAnswer, string]>([
  ['no such name', 'the name does not resolve'],
  [[], 'the name does not resolve'],
  ['failure', 'the name could not be resolved: its name server does not respond properly'],
])('a name server that says %j leads to: %s', async (answer, because) => {
  await using names = await startNameServer(() => answer)
  using safe = startSafePost({ lookup: resolveByNameServers([names.address]) })

  expect(await safe.to('https://receiver.test/')).toMatchObject({ kind: 'unreachable', because })
})

test('an unresponsive name server does not delay other names', async () => {
  await using receiver = await startReceiver((response) => response.end())
  await using names = await startNameServer((name) => (name === 'hanging.test' ? 'silence' : ['127.0.0.1']))
  using safe = startSafePost({ isAllowed, lookup: resolveByNameServers([names.address]) })

  const hanging = Array.from({ length: 20 }, () => safe.to('https://hanging.test/'))
  const healthy = await safe.to(receiver.url('receiver.test'))

  expect(healthy).toMatchObject({ kind: 'acknowledged' })
  safe[Symbol.dispose]()
  for (const outcome of await Promise.all(hanging)) expect(outcome.kind).toBe('unreachable')
})

test('a name server with malformed responses makes only its own names unreachable', async () => {
  const random = announcedSeed('garbage from a name server')
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.int(0, 255)))
  // The digit in the name is its index in the list.
  const question = (n: number) => Buffer.from(`\x08${n}garbage\x04test\x00\x00\x01\x00\x01`, 'latin1')
  const head = (answers: number) => Buffer.from([0x81, 0x80, 0, 1, answers >> 8, answers & 0xff, 0, 0, 0, 0])
  const garbage: Buffer[] = [
    Buffer.alloc(0),
    bytes(9),
    bytes(500),
    Buffer.concat([head(1), question(3)]), // the answer it announces is missing
    Buffer.concat([head(65_535), question(4), bytes(400)]),
    Buffer.concat([head(1), question(5), Buffer.from([0xc0, 30, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])]), // its name points to itself
    Buffer.concat([head(1), question(6), Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 16]), bytes(16)]), // an address of 16 bytes
  ]
  await using receiver = await startReceiver((response) => response.end())
  await using names = await startNameServer((name) =>
    name === 'receiver.test' ? ['127.0.0.1'] : garbage[Number(name.slice(0, 1))]!,
  )
  using safe = startSafePost({ isAllowed, lookup: resolveByNameServers([names.address]) })

  const startedAt = performance.now()
  const outcomes = garbage.map((_, n) => safe.to(`https://${n}garbage.test/`))
  expect(await safe.to(receiver.url('receiver.test'))).toMatchObject({ kind: 'acknowledged' })
  for (const outcome of await Promise.all(outcomes)) expect(outcome.kind).toBe('unreachable')
  expect(performance.now() - startedAt).toBeLessThan(15_000)
})

test('an invalid name is unreachable with the resolver of the system', async () => {
  using safe = startSafePost({ allowPrivate: true })

  const outcome = await safe.to(`https://${'a'.repeat(64)}.test/`)

  expect(outcome).toMatchObject({ kind: 'unreachable', because: 'the name does not resolve' })
})
