import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Shares } from './shares.ts'

const limits = { perOrganization: 2, overall: 3, waitingPerOrganization: 2, waitMs: 60_000 }

/** Starts a call that runs until it is released, and records when it starts. */
function createCalls(shares: Shares) {
  const started: string[] = []
  const release: (() => void)[] = []
  const call = (organizationId: string, name: string) =>
    shares.run(organizationId, async () => {
      started.push(name)
      await new Promise<void>((resolve) => release.push(resolve))
      return name
    })
  const releaseOldest = async () => {
    release.shift()!()
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  const releaseAll = async () => {
    while (release.length > 0) await releaseOldest()
  }
  return { started, call, releaseOldest, releaseAll }
}

test('limits an organization with many calls to its share and serves the others', async () => {
  const { started, call, releaseOldest, releaseAll } = createCalls(new Shares(limits))
  const a = [call('a', 'a1'), call('a', 'a2'), call('a', 'a3'), call('a', 'a4')]
  await expect(call('a', 'a5')).rejects.toMatchObject({ type: 'rate_limited', retryAfterSeconds: 1 })
  const b = [call('b', 'b1'), call('b', 'b2'), call('b', 'b3')]
  expect(started).toEqual(['a1', 'a2', 'b1'])
  while (started.length < 7) await releaseOldest()
  // b is ahead of a's second waiting call, because slots are assigned round-robin.
  expect(started.indexOf('b2')).toBeLessThan(started.indexOf('a4'))
  await releaseAll()
  expect(await Promise.all([...a, ...b])).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3'])
})

test('never exceeds the limits, even if calls fail, and removes organizations without calls', async () => {
  const shares = new Shares({ ...limits, waitingPerOrganization: 100 })
  const running = new Map<string, number>()
  const most = { of: 0, overall: 0 }
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) => {
      const organizationId = `o${index % 2}`
      return shares.run(organizationId, async () => {
        running.set(organizationId, (running.get(organizationId) ?? 0) + 1)
        most.of = Math.max(most.of, running.get(organizationId)!)
        most.overall = Math.max(
          most.overall,
          [...running.values()].reduce((sum, each) => sum + each, 0),
        )
        await turn()
        running.set(organizationId, running.get(organizationId)! - 1)
        if (index % 3 === 0) throw new Error('failed')
      })
    }),
  )
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(67)
  expect(most).toEqual({ of: 2, overall: 3 })
  expect(shares.organizations).toBe(0)
})

test('rejects a call that gets no slot in time, with a retry time', async () => {
  const shares = new Shares({ ...limits, overall: 1, waitMs: 10 })
  const { call, releaseOldest } = createCalls(shares)
  const first = call('a', 'a1')
  await expect(call('b', 'b1')).rejects.toMatchObject({ type: 'unavailable', retryAfterSeconds: 1 })
  await releaseOldest()
  expect(await first).toBe('a1')
  expect(shares.organizations).toBe(0)
})
