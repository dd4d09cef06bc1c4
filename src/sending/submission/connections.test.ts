import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import { Connections } from './connections.ts'
import { submissionLimits } from './limits.ts'

const endpointOf = (remoteAddress: string) => ({ remoteAddress, remotePort: 40_000, localPort: 587 })
const socketOf = (address: string) =>
  Object.defineProperties(
    new Socket(),
    Object.fromEntries(Object.entries(endpointOf(address)).map(([name, value]) => [name, { value }])),
  ) as Socket

test('clients of one network with the same port are different connections', () => {
  const connections = new Connections(submissionLimits, new StageRegistry())
  const [first, second] = ['2001:db8::1', '2001:db8::2'] as const
  expect(connections.admit(socketOf(first))).toBe(true)
  expect(connections.admit(socketOf(second))).toBe(true)
  expect(connections.size).toBe(2)
  const [acme, globex] = [newId('org'), newId('org')]
  expect(connections.signIn(endpointOf(first), acme)).toBe(true)
  expect(connections.signIn(endpointOf(second), globex)).toBe(true)
  connections.closed(endpointOf(first))
  expect(connections.beginReceiving(endpointOf(second), () => {})).toBeDefined()
  connections.destroyAll()
})

test('a session finds its connection however its address is written', () => {
  const connections = new Connections(submissionLimits, new StageRegistry())
  for (const [socket, session] of [
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0001'],
  ] as const) {
    expect(connections.admit(socketOf(socket))).toBe(true)
    expect(connections.signIn(endpointOf(session), newId('org'))).toBe(true)
  }
  connections.destroyAll()
})
