import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startTestApp } from '../../test/support/test-app.ts'
import type { Db } from '../db/db.ts'
import { parseId } from '../ids.ts'
import { KeyCache } from './key-cache.ts'

test('a key that is deleted while it is being looked up stops at once', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id, api_key: key } = (await app.manage('POST', '/organization/api-keys', { name: 'k' })).body.data
  const [asked, tellAsked] = gate()
  const [deleted, tellDeleted] = gate()
  // The answer is read before the deletion and arrives after it.
  const read = async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const rows = await app.db(strings, ...values)
    tellAsked()
    await deleted
    return rows
  }
  const keys = new KeyCache(Object.assign(read, app.db) as Db, pino({ level: 'silent' }))

  const first = keys.find(key)
  await asked
  await app.manage('DELETE', `/organization/api-keys/${id}`)
  keys.forget(parseId('key', id)!)
  tellDeleted()
  expect(await first).toBeUndefined()
  expect(await keys.find(key)).toBeUndefined()
})

function gate(): [Promise<void>, () => void] {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [opened, () => open()]
}
