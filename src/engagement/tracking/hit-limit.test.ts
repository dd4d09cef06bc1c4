import { Registry } from 'prom-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createWebhook } from '../../../test/support/event-world.ts'
import { clickPath, startWithReader, tokens } from '../../../test/support/readers.ts'
import { type MessageId, newId } from '../../platform/values/ids.ts'
import { HitLimit } from './hit-limit.ts'

const limitOf = () => new HitLimit(new Registry())
const allowed = (limit: HitLimit, id: MessageId, count: number, atMs: number) =>
  Array.from({ length: count }, () => limit.allows(id, atMs)).filter(Boolean).length

test('a message allows a burst, then five hits per second and a thousand per day', () => {
  const limit = limitOf()
  const [id, other] = [newId('msg'), newId('msg')]
  expect(allowed(limit, id, 200, 0)).toBe(50)
  expect(allowed(limit, other, 200, 0)).toBe(50)
  expect(allowed(limit, id, 200, 1_000)).toBe(5)
  expect(allowed(limit, id, 200, 100_000)).toBe(50)
  let day = 105
  for (let second = 200; second < 20_000; second += 100) day += allowed(limit, id, 200, second * 1_000)
  expect(day).toBe(1_000)
  expect(allowed(limit, id, 200, 24 * 3_600_000)).toBe(50)
})

test('a clock set back removes no hits', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const limit = limitOf()
  const id = newId('msg')
  const hits = () => Array.from({ length: 10 }, () => limit.allows(id)).filter(Boolean).length
  expect(hits()).toBe(10)
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(hits()).toBe(10)
})

test('the number of tracked messages is bounded, and the least recently hit is evicted first', () => {
  const limit = limitOf()
  const [busy, quiet] = [newId('msg'), newId('msg')]
  expect(allowed(limit, quiet, 60, 0)).toBe(50)
  expect(allowed(limit, busy, 60, 0)).toBe(50)
  for (let n = 0; n < 60_000; n++) {
    limit.allows(newId('msg'), 0)
    if (n % 10_000 === 0) expect(limit.allows(busy, 0)).toBe(false)
  }
  expect(limit.size).toBe(50_000)
  expect(limit.allows(quiet, 0)).toBe(true)
})

test('hits beyond the limit get a response and are counted, but neither stored nor delivered', async () => {
  await using app = await startWithReader()
  const { ids } = app
  await createWebhook(app.db, ids.organizationId)
  const open = `/t/o/${tokens.sign('email', ids)}`
  const click = clickPath(ids, 'https://example.com/')

  const opens = await Promise.all(Array.from({ length: 200 }, () => app.call('GET', open)))
  const clicks = await Promise.all(Array.from({ length: 20 }, () => app.call('GET', click)))

  expect(new Set(opens.map(({ status, headers }) => `${status} ${headers.get('content-type')}`))).toEqual(
    new Set(['200 image/gif']),
  )
  expect(new Set(clicks.map(({ status, headers }) => `${status} ${headers.get('location')}`))).toEqual(
    new Set(['302 https://example.com/']),
  )
  const { length: stored } = await app.events()
  expect(stored).toBeGreaterThanOrEqual(50)
  expect(stored).toBeLessThan(150)
  expect(await app.db`select from deliveries where event_name <> 'emailSent'`).toHaveLength(stored)
  const limited = /^waxwing_hits_limited_total (\d+)$/m.exec((await app.call('GET', '/metrics')).text)
  expect(Number(limited![1])).toBe(220 - stored)
})
