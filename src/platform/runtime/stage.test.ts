import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Stage } from './stage.ts'

const limits = { perOrganization: 2, overall: 3, waitingPerOrganization: 2, waitMs: 60_000 }

/** Starts a call that runs until it is released, and records when it starts. */
function createCalls(stage: Stage) {
  const started: string[] = []
  const release: (() => void)[] = []
  const call = (organizationId: string, name: string) =>
    stage.run(organizationId, async () => {
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
  const { started, call, releaseOldest, releaseAll } = createCalls(new Stage(limits))
  const a = [call('a', 'a1'), call('a', 'a2'), call('a', 'a3'), call('a', 'a4')]
  await expect(call('a', 'a5')).rejects.toMatchObject({ type: 'rate_limited', retryAfterSeconds: 1 })
  const b = [call('b', 'b1'), call('b', 'b2'), call('b', 'b3')]
  expect(started).toEqual(['a1', 'a2', 'b1'])
  while (started.length < 7) await releaseOldest()
  // b is ahead of a's second waiting call, because places are assigned round-robin.
  expect(started.indexOf('b2')).toBeLessThan(started.indexOf('a4'))
  await releaseAll()
  expect(await Promise.all([...a, ...b])).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3'])
})

test('never exceeds the limits, even if calls fail, and removes organizations without calls', async () => {
  const stage = new Stage({ ...limits, waitingPerOrganization: 100 })
  const running = new Map<string, number>()
  const most = { of: 0, overall: 0 }
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) => {
      const organizationId = `o${index % 2}`
      return stage.run(organizationId, async () => {
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
  expect(stage.organizations).toBe(0)
})

test('rejects a call that gets no place in time, with a retry time', async () => {
  const stage = new Stage({ ...limits, overall: 1, waitMs: 10 })
  const { call, releaseOldest } = createCalls(stage)
  const first = call('a', 'a1')
  await expect(call('b', 'b1')).rejects.toMatchObject({ type: 'unavailable', retryAfterSeconds: 1 })
  await releaseOldest()
  expect(await first).toBe('a1')
  expect(stage.organizations).toBe(0)
})

test('a place that was acquired is free again when it is released, once', async () => {
  const stage = new Stage({ ...limits, perOrganization: 1, overall: 2 })
  const release = await stage.acquire('a')
  expect(stage.tryAcquire('a')).toBeUndefined()
  const other = stage.tryAcquire('b')!
  expect([stage.used, stage.usedBy('a'), stage.tryAcquire('c')]).toEqual([2, 1, undefined])
  const waiting = stage.acquire('a')
  expect([stage.used, stage.waiting]).toEqual([2, 1])
  release()
  release()
  ;(await waiting)()
  other()
  expect([stage.used, stage.waiting, stage.organizations]).toEqual([0, 0, 0])
})

test('calls take as many places as they weigh, and a heavy one is not overtaken while it waits', async () => {
  const stage = new Stage({ perOrganization: 6, overall: 8, waitingPerOrganization: 10, waitMs: 60_000 })
  const first = [await stage.acquire('a', 3), await stage.acquire('b', 3)]
  const order: string[] = []
  const heavy = stage.acquire('c', 4).then((release) => {
    order.push('heavy')
    return release
  })
  // There is room for it, but it would delay the one that waits.
  const light = stage.acquire('d', 1).then((release) => {
    order.push('light')
    return release
  })
  await turn()
  expect([stage.used, order]).toEqual([6, []])
  first[0]!()
  const releases = await Promise.all([heavy, light])
  expect(order).toEqual(['heavy', 'light'])
  for (const release of [...releases, first[1]!]) release()
  // A call that weighs more than the share of its organization takes all of it.
  const all = await stage.acquire('a', 1_000)
  expect([stage.usedBy('a'), stage.tryAcquire('a'), stage.tryAcquire('b', 2)]).toEqual([
    6,
    undefined,
    expect.anything(),
  ])
  all()
})

test('new organizations share the places of one while more than half of the stage is used', async () => {
  const isNew = (organizationId: string) => organizationId.startsWith('new')
  const stage = new Stage({ ...limits, perOrganization: 2, overall: 8, isNew })
  const { started, call, releaseOldest, releaseAll } = createCalls(stage)
  const calls = [1, 2, 3, 4].flatMap((at) => [call(`new${at}`, `new${at}a`), call(`new${at}`, `new${at}b`)])
  expect(started).toEqual(['new1a', 'new1b', 'new2a', 'new2b'])
  // Calls of new organizations that wait do not keep others waiting.
  const known = ['a', 'b'].flatMap((id) => [call(id, `${id}1`), call(id, `${id}2`)])
  expect(started.slice(4)).toEqual(['a1', 'a2', 'b1', 'b2'])
  while (started.length < 12) {
    await releaseOldest()
    expect(stage.used - stage.usedBy('a') - stage.usedBy('b')).toBeLessThanOrEqual(4)
  }
  await releaseAll()
  expect(await Promise.all([...calls, ...known])).toHaveLength(12)
  expect([stage.used, stage.organizations]).toEqual([0, 0])
})
