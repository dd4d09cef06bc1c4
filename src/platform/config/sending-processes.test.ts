import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { sendingSharesOf } from './sending-processes.ts'

const shares = (cores: number, settings: Record<string, string> = {}) =>
  sendingSharesOf(readConfig({ SMTP_URL: 'smtp://relay.example', ...settings }), cores)

test('one core is left for the service and PostgreSQL, and one core has no sending process', () => {
  expect([1, 2, 4, 64].map((cores) => shares(cores).processes)).toEqual([0, 1, 3, 4])
  expect(shares(2, { SENDING_PROCESSES: '0' }).processes).toBe(0)
  expect(shares(1, { SENDING_PROCESSES: '3' }).processes).toBe(3)
  expect(sendingSharesOf(readConfig({}), 8).processes).toBe(0)
})

test('the processes share the SMTP connections, and never use more', () => {
  expect(shares(2)).toEqual({ processes: 1, ownConnections: 3, connections: [7] })
  expect(shares(4)).toEqual({ processes: 3, ownConnections: 3, connections: [2, 2, 3] })
  expect(shares(8, { SMTP_CONNECTIONS: '3' })).toEqual({ processes: 2, ownConnections: 1, connections: [1, 1] })
  expect(shares(8, { SMTP_CONNECTIONS: '1' })).toEqual({ processes: 0, ownConnections: 1, connections: [] })
})
