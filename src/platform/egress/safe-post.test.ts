import { createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listening, receiverCa, startRawReceiver, startReceiver } from '../../../test/support/webhook-receiver.ts'
import { reasonInWords } from './post-outcome.ts'
import { createSafePost, type SafePostOptions } from './safe-post.ts'

const headers = { 'Content-Type': 'application/json', 'X-Service-Event': 'emailOpen' }
const body = '{"event_name":"emailOpen","name":"Zoë"}'

/** May post to loopback, where the receivers are. The time is ample unless a test is about running out of it. */
function startSafePost(options: Partial<SafePostOptions> = {}) {
  const safePost = createSafePost({ timeoutMs: 20_000, allowPrivate: true, ca: receiverCa, ...options })
  return { ...safePost, [Symbol.dispose]: () => safePost.close() }
}

test('200 acknowledges, and path, headers and body arrive byte-identically', async () => {
  await using receiver = await startReceiver((response) => response.end('thanks'))
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toEqual({
    kind: 'acknowledged',
    statusCode: 200,
    responseBody: 'thanks',
    durationMs: expect.any(Number),
  })
  expect(reasonInWords(outcome)).toBe('Responded 200')
  const [post] = receiver.posts
  expect(post!.path).toBe('/hook?a=1')
  expect(post!.body).toEqual(Buffer.from(body))
  expect(post!.headers).toMatchObject({
    host: `localhost:${receiver.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-service-event': 'emailOpen',
  })
})

test('a body given as bytes arrives as those bytes', async () => {
  await using receiver = await startReceiver((response) => response.end())
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, Buffer.from(body))

  expect(outcome).toMatchObject({ kind: 'acknowledged', responseBody: '' })
  expect(receiver.posts[0]!.body).toEqual(Buffer.from(body))
})

test.each([201, 202, 204, 206, 300, 304, 400, 401, 404, 410, 429, 451, 500, 502, 503, 504, 599])(
  'the status %i has the right outcome and reason',
  async (statusCode) => {
    await using receiver = await startReceiver((response) => response.writeHead(statusCode).end())
    using safe = startSafePost()

    const outcome = await safe.post(receiver.url(), headers, body)

    const isFinal = statusCode >= 400 && statusCode < 500
    expect(outcome).toMatchObject({ kind: isFinal ? 'refused' : 'not_acknowledged', statusCode })
    expect(reasonInWords(outcome)).toContain(isFinal ? `${statusCode} (not retried)` : `${statusCode} (200 expected`)
  },
)

test.each([301, 302, 303, 307, 308])('a redirect with %i is not followed', async (statusCode) => {
  await using receiver = await startReceiver((response) => response.writeHead(statusCode, { location: '/other' }).end())
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(reasonInWords(outcome)).toBe(`Responded ${statusCode} (200 expected; redirects are not followed)`)
  expect(receiver.posts).toHaveLength(1)
})

test('an informational response before the final one is skipped', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  })
  using safe = startSafePost()

  expect(await safe.post(receiver.url(), headers, body)).toMatchObject({ kind: 'acknowledged', responseBody: 'ok' })
})

const drip = (socket: TLSSocket, text: string) => {
  const timer = setInterval(() => socket.write(text), 20)
  socket.on('close', () => clearInterval(timer))
}

test.each<[string, (socket: TLSSocket) => unknown]>([
  ['answers too late', (socket) => setTimeout(() => socket.end('HTTP/1.1 200 OK\r\n\r\n'), 3_000).unref()],
  ['never answers', () => {}],
  ['drips headers', (socket) => socket.write('HTTP/1.1 200 OK\r\n') && drip(socket, 'x: y\r\n')],
])('a receiver that %s is timed out, and the connection is closed', async (_, answer) => {
  await using receiver = await startRawReceiver(answer)
  using safe = startSafePost({ timeoutMs: 300 })

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toEqual({ kind: 'timed_out', timeoutMs: 300, durationMs: expect.any(Number), responseBody: null })
  expect(outcome.durationMs).toBeGreaterThan(250)
  expect(reasonInWords(outcome)).toBe('No response within 0.3 seconds')
  await receiver.closed
})

test('a receiver that sends 200 and then trickles its body times out, and the received part is kept', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')
    drip(socket, 'y')
  })
  using safe = startSafePost({ timeoutMs: 3_000 })

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toMatchObject({ kind: 'timed_out', responseBody: expect.stringMatching(/^y+$/) })
  await receiver.closed
})

test.each([
  ['hangs', () => {}],
  ['closes the connection', (socket: TLSSocket) => socket.end()],
])('a receiver that answers 404 and then %s has refused for good', async (_how, then) => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nno')
    then(socket)
  })
  using safe = startSafePost({ timeoutMs: 3_000 })

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toMatchObject({ kind: 'refused', statusCode: 404, responseBody: 'no' })
  await receiver.closed
})

test('a receiver that never completes the TLS handshake times out', async () => {
  await using receiver = await startPlainTcp()
  using safe = startSafePost({ timeoutMs: 200 })

  expect(await safe.post(`https://127.0.0.1:${receiver.port}/`, headers, body)).toMatchObject({ kind: 'timed_out' })
  await receiver.closed
})

test('a lookup that never ends times out', async () => {
  using safe = startSafePost({ timeoutMs: 100, lookup: () => new Promise(() => {}) })

  expect(await safe.post('https://receiver.test/', headers, body)).toMatchObject({ kind: 'timed_out' })
})

test('posts that start at different times each get their full timeout', async () => {
  await using receiver = await startRawReceiver(() => {})
  using safe = startSafePost({ timeoutMs: 250 })

  const first = safe.post(receiver.url(), headers, body)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const outcomes = await Promise.all([first, safe.post(receiver.url(), headers, body)])

  for (const { kind, durationMs } of outcomes) {
    expect(kind).toBe('timed_out')
    expect(durationMs).toBeGreaterThan(200)
  }
})

test.each<[string, (socket: TLSSocket) => unknown, string]>([
  ['resets the connection', (socket) => socket.destroy(), 'closed the connection before responding'],
  ['ends the connection', (socket) => socket.end(), 'closed the connection before responding'],
  [
    'breaks off in the middle of its answer',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    'closed the connection before responding',
  ],
  ['does not speak HTTP', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'), 'did not respond with valid HTTP'],
  [
    'asks to go on',
    (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
    'sent an unexpected 100 or 101 response',
  ],
  [
    'sends huge headers',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    'sent response headers that are too large',
  ],
  [
    'sends chunks with endless extensions',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;')
      flood(socket, 'x'.repeat(16_384))
    },
    'sent more than 256 KiB without completing its response',
  ],
  [
    'sends informational answers without end',
    (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100)),
    'sent more than 256 KiB without completing its response',
  ],
])('a receiver that %s is unreachable, with a reason', async (_, answer, because) => {
  await using receiver = await startRawReceiver(answer)
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toMatchObject({ kind: 'unreachable', because })
  expect(reasonInWords(outcome).toLowerCase()).toBe(because.toLowerCase())
})

test.each([
  ['webhook-receiver-expired', 'the certificate has expired'],
  ['webhook-receiver-wrong-name', 'the certificate is not valid for this name'],
  [
    'webhook-receiver-unknown-ca',
    'the certificate is not signed by a trusted authority, or an intermediate certificate is missing',
  ],
] as const)('the certificate %s is not accepted, and nothing is sent', async (certificate, because) => {
  await using receiver = await startReceiver((response) => response.end(), { certificate })
  using safe = startSafePost()

  expect(await safe.post(receiver.url(), headers, body)).toMatchObject({ kind: 'unreachable', because })
  expect(receiver.posts).toEqual([])
})

test('a receiver without TLS on an https URL is unreachable', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  using safe = startSafePost()

  const outcome = await safe.post(`https://localhost:${receiver.port}/`, headers, body)

  expect(outcome).toMatchObject({ kind: 'unreachable', because: 'does not speak TLS on this port' })
})

test('a closed port is unreachable', async () => {
  const port = await closedPort()
  using safe = startSafePost()

  const outcome = await safe.post(`https://localhost:${port}/`, headers, body)

  expect(outcome).toMatchObject({ kind: 'unreachable', because: 'refused the connection', responseBody: null })
})

test('an endless response is cut at 16 KiB, its status counts, and the connection is closed', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    flood(socket, 'x'.repeat(5_000))
  })
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome).toMatchObject({ kind: 'acknowledged', responseBody: 'x'.repeat(16 * 1024) })
  await receiver.closed
})

test('a compressed response is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  await using receiver = await startReceiver((response) => response.setHeader('content-encoding', 'gzip').end(bomb))
  using safe = startSafePost()

  const outcome = await safe.post(receiver.url(), headers, body)

  expect(outcome.kind).toBe('acknowledged')
  expect(Buffer.byteLength(outcome.responseBody!)).toBeLessThanOrEqual(16 * 1024)
  expect(outcome.responseBody).not.toContain('\0')
})

test('closing ends posts in flight as unreachable', async () => {
  await using receiver = await startRawReceiver(() => {})
  using safe = startSafePost()

  const waiting = safe.post(receiver.url(), headers, body)
  await receiver.arrived
  const connecting = safe.post(receiver.url(), headers, body)
  safe.close()

  for (const outcome of await Promise.all([waiting, connecting])) {
    expect(outcome).toMatchObject({ kind: 'unreachable', because: 'was aborted because the service is stopping' })
  }
})

/** Writes without end, as fast as it is read. */
function flood(socket: TLSSocket, text: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  }
  socket.on('drain', write)
  write()
}

/** Takes connections and never says a word. */
async function startPlainTcp() {
  const server = createServer((socket) => socket.resume())
  return listening(server, 'tcp', {})
}

async function closedPort(): Promise<number> {
  await using server = await startPlainTcp()
  return server.port
}
