import { pino } from 'pino'
import { expect, test } from 'vitest'
import { countTurns, distinctNames } from '../../../test/support/costly-json.ts'
import { createServer, type ServerOptions } from './server.ts'

/** A server whose route records the turn of the event loop in which it handles a request. */
async function startServer(organizationOf?: ServerOptions['organizationOf']) {
  const server = createServer({
    log: pino({ level: 'silent' }),
    baseUrl: () => 'http://localhost',
    trustProxy: false,
    organizationOf,
  })
  const turns = countTurns()
  const handled: { caller: string; turn: number }[] = []
  server.post('/emails', { bodyLimit: 1_000_000 }, async (request) => {
    handled.push({ caller: String(request.headers['x-caller']), turn: turns.turn })
    return {}
  })
  const post = async (caller: string, payload: string) => {
    const headers = { 'content-type': 'application/json', 'x-caller': caller }
    return (await server.inject({ method: 'POST', url: '/emails', headers, payload })).statusCode
  }
  const stop = async () => {
    turns[Symbol.dispose]()
    await server.close()
  }
  return { post, handled, [Symbol.asyncDispose]: stop }
}

test('bodies with many field names are handled one in a turn of the event loop', async () => {
  await using server = await startServer()
  const costly = distinctNames(8_000)
  expect(costly.length).toBeLessThan(100_000)
  await Promise.all(Array.from({ length: 10 }, () => server.post('a', costly)))
  expect(new Set(server.handled.map(({ turn }) => turn)).size).toBe(10)
})

test('organizations with costly bodies get turns one after the other', async () => {
  await using server = await startServer(({ headers }) => headers['x-caller'] as never)
  const costly = distinctNames(8_000)
  const callers = ['busy', 'busy', 'busy', 'busy', 'busy', 'other']
  await Promise.all(callers.map((caller) => server.post(caller, costly)))
  expect(server.handled.findIndex(({ caller }) => caller === 'other')).toBeLessThan(2)
})

test('a cheap body does not wait for costly ones', async () => {
  await using server = await startServer()
  const costly = Array.from({ length: 5 }, () => server.post('costly', distinctNames(8_000)))
  await Promise.all([...costly, server.post('cheap', '{"to":"ada@example.com"}')])
  expect(server.handled[0]!.caller).toBe('cheap')
})

test('a body with more field names than can be parsed in milliseconds is rejected', async () => {
  await using server = await startServer()
  expect(await server.post('a', distinctNames(20_000))).toBe(200)
  expect(await server.post('a', distinctNames(30_000))).toBe(413)
  // In a string, a colon is only text.
  expect(await server.post('a', JSON.stringify({ text: ':'.repeat(200_000) }))).toBe(200)
})
