import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { failureLog } from '../../../test/support/failure-log.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { withResolvers } from '../../../test/support/with-resolvers.ts'
import type { Db } from '../../platform/db/db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { parseId } from '../../platform/values/ids.ts'
import { KeyCache } from './key-cache.ts'

test('rejects a key that is deleted while it is being looked up', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id, api_key: key } = await create(app, '/api-keys', { name: 'k' })
  const [asked, tellAsked] = gate()
  const [deleted, tellDeleted] = gate()
  // The row is read before the deletion and returned after it.
  const read = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const rows = await app.db(strings, ...values)
    tellAsked()
    await deleted
    return rows
  }
  const keys = new KeyCache(
    Object.assign(read, app.db) as Db,
    new StageRegistry(),
    failureLog(pino({ level: 'silent' })),
  )

  const first = keys.find(key, '127.0.0.1')
  await asked
  await app.manage('DELETE', `/organization/api-keys/${id}`)
  keys.forget(parseId('key', id)!)
  tellDeleted()
  expect(await first).toBeUndefined()
  expect(await keys.find(key, '127.0.0.1')).toBeUndefined()
})

test('accepts a cached key for four seconds while the database is unavailable', async () => {
  await using app = await startTestApp({}, ['serve'])
  let away = false
  const read = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    if (away) throw new Error('away')
    return app.db(strings, ...values)
  }
  const keys = new KeyCache(
    Object.assign(read, app.db) as Db,
    new StageRegistry(),
    failureLog(pino({ level: 'silent' })),
  )
  const knownAt = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: knownAt })
  try {
    const known = await keys.find(app.apiKey, '127.0.0.1')
    away = true
    vi.setSystemTime(knownAt + 3_999)
    expect(keys.find(app.apiKey, '127.0.0.1')).toBe(known)
    vi.setSystemTime(knownAt + 4_000)
    await expect(keys.find(app.apiKey, '127.0.0.1')).rejects.toThrow('away')
  } finally {
    vi.useRealTimers()
  }
})

function gate(): [Promise<void>, () => void] {
  const { promise: opened, resolve: open } = withResolvers()
  return [opened, () => open()]
}
