import { expect, test } from 'vitest'
import { connectionsOf } from './open.ts'

test('the processes of a service together use the connections of a mail server, or one each if there are fewer', () => {
  for (let connections = 1; connections <= 50; connections++)
    for (let processes = 1; processes <= 9; processes++) {
      const sum = processes * connectionsOf({ connections }, 1 / processes)
      expect(sum).toBeLessThanOrEqual(Math.max(connections, processes))
    }
})
