import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { listening, receiverCa, startReceiver } from '../../../test/support/webhook-receiver.ts'
import { createSafePost, type SafePostOptions } from './safe-post.ts'

/** A real CONNECT proxy that finds every name on loopback. */
async function startProxy(onConnect: (request: IncomingMessage, socket: Duplex) => unknown = tunnel) {
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer().on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push({ path: request.url ?? '', authorization: request.headers['proxy-authorization'] })
    onConnect(
      request,
      socket.on('error', () => {}),
    )
  })
  return { asked, ...(await listening(server, 'http')) }
}

function tunnel(request: IncomingMessage, socket: Duplex): void {
  const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    target.pipe(socket).pipe(target)
  })
  target.on('error', () => socket.destroy())
}

function startSafePost(proxyUrl: string, options: Partial<SafePostOptions> = {}) {
  const lookup = () => Promise.reject(new Error('the proxy resolves names'))
  const safePost = createSafePost({
    timeoutMs: 20_000,
    allowPrivate: false,
    ca: receiverCa,
    lookup,
    proxyUrl,
    ...options,
  })
  return {
    to: (url: string) => safePost.post(url, { 'Content-Type': 'application/json' }, '{}'),
    [Symbol.dispose]: () => safePost.close(),
  }
}

test('with an egress proxy, all connections use it and it resolves the names', async () => {
  await using receiver = await startReceiver((response) => response.end('ok'))
  await using proxy = await startProxy()
  using safe = startSafePost(`http://user:p%40ss@127.0.0.1:${proxy.port}`)

  for (let n = 0; n < 3; n++) {
    expect(await safe.to(receiver.url('receiver.test'))).toMatchObject({ kind: 'acknowledged', responseBody: 'ok' })
  }

  const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  expect(proxy.asked).toEqual([{ path: `receiver.test:${receiver.port}`, authorization }])
  expect(receiver.posts).toHaveLength(3)
  expect(receiver.posts[0]!.headers).not.toHaveProperty('proxy-authorization')
})

test('the certificate of the receiver is verified through the proxy', async () => {
  await using receiver = await startReceiver((response) => response.end(), { certificate: 'webhook-receiver-expired' })
  await using proxy = await startProxy()
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`)

  expect(await safe.to(receiver.url())).toMatchObject({ because: 'the certificate has expired' })
  expect(receiver.posts).toEqual([])
})

test('a non-public literal address is rejected before the proxy is used', async () => {
  await using proxy = await startProxy()
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`)

  expect(await safe.to('https://10.0.0.1/')).toMatchObject({ because: '10.0.0.1 is not a public address' })
  expect(await safe.to('https://[::1]/')).toMatchObject({ because: '::1 is not a public address' })
  expect(proxy.asked).toEqual([])
})

test('an http receiver, if allowed, is also reached through a tunnel', async () => {
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  await using proxy = await startProxy()
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`, { allowPrivate: true })

  expect(await safe.to(receiver.url())).toMatchObject({ kind: 'acknowledged' })
  expect(proxy.asked).toHaveLength(1)
})

test('a rejection by the proxy is named in the reason', async () => {
  await using proxy = await startProxy((_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`)

  expect(await safe.to('https://receiver.test/')).toMatchObject({
    kind: 'unreachable',
    because: 'the egress proxy answered 403 instead of connecting',
  })
})

test('an unreachable or disconnecting proxy is named in the reason', async () => {
  await using proxy = await startProxy((_, socket) => socket.destroy())
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`)
  expect(await safe.to('https://receiver.test/')).toMatchObject({
    because: 'the egress proxy failed: closed the connection before responding',
  })

  await proxy[Symbol.asyncDispose]()
  expect(await safe.to('https://receiver.test/')).toMatchObject({
    because: 'the egress proxy failed: refused the connection',
  })
})

test('an unresponsive proxy times out, and its connection is closed', async () => {
  await using proxy = await startProxy((_, socket) => socket.resume().on('end', () => socket.end()))
  using safe = startSafePost(`http://127.0.0.1:${proxy.port}`, { timeoutMs: 300 })

  expect(await safe.to('https://receiver.test/')).toMatchObject({ kind: 'timed_out' })
  await proxy.closed
})
