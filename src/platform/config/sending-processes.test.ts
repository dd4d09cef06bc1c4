import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { busyShare, connectionsOf, idleShare, sendingProcessesOf } from './sending-processes.ts'

const processes = (cores: number, settings: Record<string, string> = {}) =>
  sendingProcessesOf(readConfig({ SMTP_URL: 'smtp://relay.example', ...settings }), cores)

test('one core is left for the service and PostgreSQL, and one core has no sending process', () => {
  expect([1, 2, 4, 64].map((cores) => processes(cores))).toEqual([0, 1, 3, 4])
  expect(processes(2, { SENDING_PROCESSES: '0' })).toBe(0)
  expect(processes(1, { SENDING_PROCESSES: '3' })).toBe(3)
  expect(sendingProcessesOf(readConfig({}), 8)).toBe(0)
})

test('each process has a connection to SMTP_URL, and the service as well', () => {
  expect(processes(8, { SMTP_CONNECTIONS: '3' })).toBe(2)
  expect(processes(8, { SMTP_CONNECTIONS: '1' })).toBe(0)
})

test('the processes together use all connections of a mail server, or one each if there are fewer', () => {
  for (let connections = 1; connections <= 50; connections++)
    for (let count = 1; count <= 8; count++)
      for (const ownShare of [idleShare, busyShare]) {
        const reserved = connectionsOf(connections, { processes: count, ownShare })
        const ofProcesses = Array.from({ length: count }, (_, index) =>
          connectionsOf(connections, { processes: count, ownShare, index }),
        )
        const sum = ofProcesses.reduce((total, part) => total + part, reserved)
        if (connections - reserved >= count) expect(sum).toBe(connections)
        else expect(ofProcesses.every((part) => part === 1)).toBe(true)
      }
})
