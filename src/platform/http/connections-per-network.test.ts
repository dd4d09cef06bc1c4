import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { isOnThisMachine } from './connections-per-network.ts'
import { createServer } from './server.ts'

/** Opens connections, and returns those that remain open. */
async function connectionsOf(port: number, localAddress: string, count: number, remaining: number) {
  const sockets = Array.from({ length: count }, () =>
    connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {}),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await until('the excess to be closed', () => sockets.filter(({ closed }) => closed).length === count - remaining)
  return sockets.filter(({ closed }) => !closed)
}

test('a network has a limited number of connections, and those of a proxy have no limit', async () => {
  const server = createServer({
    log: pino({ level: 'silent' }),
    baseUrl: () => 'http://localhost',
    trustProxy: false,
    connectionLimit: { perNetworkMax: 5, isProxy: (address) => address === '127.0.0.3' },
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const first = await connectionsOf(port, '127.0.0.1', 30, 5)
  const other = await connectionsOf(port, '127.0.0.2', 5, 5)
  const proxy = await connectionsOf(port, '127.0.0.3', 30, 30)
  // A closed connection makes room.
  for (const socket of first) socket.destroy()
  const connections = () => new Promise((resolve) => server.server.getConnections((_, count) => resolve(count)))
  await until('the connections to be closed', async () => (await connections()) === 35)
  const next = await connectionsOf(port, '127.0.0.1', 6, 5)
  for (const socket of [...other, ...proxy, ...next]) socket.destroy()
  await server.close()
})

test('a process on the same machine may be a proxy', () => {
  const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '192.0.2.1', '10.0.0.1', '2001:db8::1', '']
  expect(addresses.filter(isOnThisMachine)).toEqual(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
})
