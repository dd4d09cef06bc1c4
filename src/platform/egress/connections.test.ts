import { expect, test } from 'vitest'
import { receiverCa, startRawReceiver, startReceiver } from '../../../test/support/webhook-receiver.ts'
import type { ConnectionLimits } from './connections.ts'
import { createSafePost } from './safe-post.ts'

function startSafePost(limits: Partial<ConnectionLimits> = {}) {
  const safePost = createSafePost({ timeoutMs: 20_000, allowPrivate: true, ca: receiverCa, limits })
  return {
    to: (url: string) => safePost.post(url, { 'Content-Type': 'application/json' }, '{}'),
    [Symbol.dispose]: () => safePost.close(),
  }
}

const acknowledged = { kind: 'acknowledged' }

test('sequential posts share a connection', async () => {
  await using receiver = await startReceiver((response) => response.end('ok'))
  using safe = startSafePost()

  for (let n = 0; n < 20; n++) expect(await safe.to(receiver.url())).toMatchObject(acknowledged)

  expect(receiver.posts).toHaveLength(20)
  expect(receiver.count.connections).toBe(1)
})

test('concurrent posts use separate connections, which are reused', async () => {
  await using receiver = await startReceiver((response) => response.end('ok'))
  using safe = startSafePost()
  const atOnce = () => Promise.all(Array.from({ length: 8 }, () => safe.to(receiver.url())))

  for (let n = 0; n < 5; n++) for (const outcome of await atOnce()) expect(outcome).toMatchObject(acknowledged)

  expect(receiver.posts).toHaveLength(40)
  expect(receiver.count.connections).toBe(8)
})

test('a TLS session is not resumed if its certificate was verified too long ago', async () => {
  const resumed: boolean[] = []
  await using receiver = await startRawReceiver((socket) => {
    resumed.push(socket.isSessionReused())
    if (resumed.length !== 2) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
  using safe = startSafePost({ sessionMsMax: 0 })

  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  const second = safe.to(receiver.url())
  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  expect(resumed).toEqual([false, false, false])

  safe[Symbol.dispose]()
  await second
})

test('a second connection to an origin resumes the TLS session', async () => {
  const resumed: boolean[] = []
  await using receiver = await startRawReceiver((socket) => {
    resumed.push(socket.isSessionReused())
    if (resumed.length !== 2) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
  using safe = startSafePost()

  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  // The second post occupies the first connection, so the third needs a new one.
  const second = safe.to(receiver.url())
  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  expect(resumed).toEqual([false, false, true])

  safe[Symbol.dispose]()
  await second
})

test('an unresponsive receiver does not delay other posts to the same origin', async () => {
  await using receiver = await startReceiver((response, { path }) => path === '/hang' || response.end())
  using safe = startSafePost()
  const origin = receiver.url().replace(/\/hook.*/, '')

  const hanging = Array.from({ length: 40 }, () => safe.to(`${origin}/hang`))
  expect(await safe.to(`${origin}/healthy`)).toMatchObject(acknowledged)

  safe[Symbol.dispose]()
  await Promise.all(hanging)
})

test('a post after the receiver closed the idle connection uses a new one', async () => {
  await using receiver = await startReceiver((response) => response.end('ok'))
  using safe = startSafePost()

  for (let n = 0; n < 3; n++) {
    expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
    receiver.closeConnections()
  }
  expect(receiver.posts).toHaveLength(3)
})

test('a request on a connection that the receiver closes is sent once more over a new one', async () => {
  const requestsBySocket = new WeakMap<object, number>()
  await using receiver = await startRawReceiver((socket) => {
    const requests = (requestsBySocket.get(socket) ?? 0) + 1
    requestsBySocket.set(socket, requests)
    if (requests > 1) socket.destroy()
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
  using safe = startSafePost()

  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  expect(receiver.count.connections).toBe(2)
})

test('a request is not repeated if the receiver closes a new connection', async () => {
  await using receiver = await startRawReceiver((socket) => socket.destroy())
  using safe = startSafePost()

  expect(await safe.to(receiver.url())).toMatchObject({ kind: 'unreachable' })
  expect(receiver.count.connections).toBe(1)
})

test('Connection: close of the receiver is respected', async () => {
  await using receiver = await startReceiver((response) => response.setHeader('connection', 'close').end())
  using safe = startSafePost()

  for (let n = 0; n < 3; n++) expect(await safe.to(receiver.url())).toMatchObject(acknowledged)

  expect(receiver.count.connections).toBe(3)
})

test('an idle connection is closed after its timeout, even if the receiver offers a longer one', async () => {
  await using offering = await startReceiver((response) => response.end())
  await using silent = await startRawReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  using safe = startSafePost({ idleMs: 50 })

  for (const receiver of [offering, silent]) {
    expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
    await receiver.closed
    expect(await safe.to(receiver.url())).toMatchObject(acknowledged)
  }
})

test('an old connection is closed after its response, so that the name is checked again', async () => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost({ ageMsMax: -1 })

  for (let n = 0; n < 3; n++) expect(await safe.to(receiver.url())).toMatchObject(acknowledged)

  expect(receiver.count.connections).toBe(3)
})

test.each<[string, Partial<ConnectionLimits>]>([
  ['for one origin', { idlePerOriginMax: 2 }],
  ['in all', { idleMax: 2 }],
])('no more idle connections are kept than the limit %s', async (_, limits) => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost(limits)

  const fiveAtOnce = () => Promise.all(Array.from({ length: 5 }, () => safe.to(receiver.url())))
  await fiveAtOnce()
  await fiveAtOnce()

  expect(receiver.count.connections).toBe(5 + 3)
})

test('a connection with a truncated response is not reused', async () => {
  await using receiver = await startReceiver((response) => response.end('x'.repeat(100_000)))
  using safe = startSafePost()

  for (let n = 0; n < 2; n++) expect(await safe.to(receiver.url())).toMatchObject(acknowledged)

  expect(receiver.count.connections).toBe(2)
})
