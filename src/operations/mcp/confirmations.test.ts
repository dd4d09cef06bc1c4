import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { Db } from '../../platform/db/db.ts'
import { newId } from '../../platform/values/ids.ts'
import { Confirmations } from './confirmations.ts'

const newKey = () => ({ id: newId('key'), organizationId: newId('org') })
const neverAborted = new AbortController().signal

/** Connections that listen for answers. */
const listeners = async (db: Db) =>
  (await db<{ query: string }>`select query from pg_stat_activity where datname = current_database()`).filter(
    ({ query }) => query.startsWith('listen "waxwing_mcp_answers"'),
  ).length

test('a question ends without an answer when the time is up, the client goes away or the service stops', async () => {
  await using testDb = await createTestDb()
  const impatient = new Confirmations(testDb.db, { waitMs: 20 })
  expect(await impatient.ask(newKey(), async () => {}, neverAborted)).toBeUndefined()
  const confirmations = new Confirmations(testDb.db)
  const client = new AbortController()
  const left = confirmations.ask(newKey(), async () => client.abort(), client.signal)
  expect(await left).toBeUndefined()
  const stopped = confirmations.ask(newKey(), async () => confirmations.stop(), neverAborted)
  expect(await stopped).toBeUndefined()
  const failed = confirmations.ask(newKey(), () => Promise.reject(new Error('not sent')), neverAborted)
  await expect(failed).rejects.toThrow('not sent')
  expect(confirmations.openCount).toBe(0)
  await until('no connection to listen', async () => (await listeners(testDb.db)) === 0)
})

test('an answer reaches the process that asked, once, and only with the same key', async () => {
  await using testDb = await createTestDb()
  const [asking, other] = [new Confirmations(testDb.db), new Confirmations(testDb.db)]
  const key = newKey()
  const yes = { action: 'accept', content: { confirm: true } }
  const sent: string[] = []
  const answer = asking.ask(key, async (id) => void sent.push(id), neverAborted)
  await until('the question', () => sent.length === 1)
  expect(await listeners(testDb.db)).toBe(1)
  await other.answer(newKey(), sent[0], yes)
  await other.answer(key, 'ask_unknown', yes)
  expect(await Promise.race([answer, pause(100, 'still open')])).toBe('still open')
  await other.answer(key, sent[0], yes)
  expect(await answer).toEqual(yes)
  await asking.answer(key, sent[0], { action: 'decline', content: {} })
  await expect(other.answer(key, sent[0], { action: 'accept', content: { text: 'x'.repeat(10_000) } })).rejects.toThrow(
    'too long',
  )
})

test('an organization has few open questions, whatever others have', async () => {
  await using testDb = await createTestDb()
  const confirmations = new Confirmations(testDb.db)
  const key = newKey()
  const ask = (asker: ReturnType<typeof newKey>) => confirmations.ask(asker, async () => {}, neverAborted)
  const open = [key, key, key, key, key].map(ask)
  await expect(ask({ ...key, id: newId('key') })).rejects.toThrow('Too many questions')
  const other = ask(newKey())
  confirmations.stop()
  expect(new Set(await Promise.all([...open, other]))).toEqual(new Set([undefined]))
})
