import fastify from 'fastify'
import { expect, test } from 'vitest'
import { startSharedApp } from '../../../test/support/test-app.ts'
import { parseId } from '../../platform/values/ids.ts'
import { requirePermissions } from './route-permissions.ts'

const newApp = await startSharedApp({}, ['serve'])

test('a session of an earlier epoch ends, although it is still stored', async () => {
  const app = await newApp()
  const organizationId = parseId('org', app.organizationId)!
  expect((await app.manage('GET', '/me')).status).toBe(200)
  await app.db.statement`update users set session_epoch = session_epoch + 1 where organization_id = ${organizationId}`
  expect((await app.manage('GET', '/me')).status).toBe(401)
  expect(await app.db`select from sessions where organization_id = ${organizationId}`).toHaveLength(1)
})

test('a route that does not declare its permission cannot be registered', () => {
  const server = fastify()
  requirePermissions(server)
  server.get('/open', { config: { permission: 'public' }, handler: async () => 'open' })
  expect(() => server.get('/forgotten', async () => 'open')).toThrow('GET /forgotten declares no permission')
})
