import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { deleteExpiredKeys } from './idempotency.ts'

test('idempotency keys are deleted after a day, and not before', async () => {
  await using app = await startTestApp({}, ['serve'])
  const flowId = await createFlow(app)
  await send(app, flowId, {}, { 'idempotency-key': 'old' })
  await app.db.statement`update idempotency_keys set created_at = now() - interval '26 hours'`
  await send(app, flowId, {}, { 'idempotency-key': 'new' })
  await deleteExpiredKeys(app.db)
  expect(await app.db`select key from idempotency_keys`).toEqual([{ key: 'new' }])
})
