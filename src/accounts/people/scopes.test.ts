import { expect, test } from 'vitest'
import { createFlow, orderFlow, send } from '../../../test/support/flows.ts'
import { registerOther } from '../../../test/support/people.ts'
import { create, createKey } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import type { ApiDocument } from '../../platform/http/types.ts'
import { parseId } from '../../platform/values/ids.ts'
import { type Scope, scopes } from './scopes.ts'

const newOrganization = await startSharedApp()

const withKey = (app: TestApp, key: string, method: string, path: string, body?: unknown) =>
  app.call(method, path, { headers: { 'x-api-token': key }, body })

test('a key with a scope can call exactly the operations of that scope', async () => {
  const app = await newOrganization()
  const document: ApiDocument = (await app.call('GET', '/openapi.json')).body
  const aliasOf: Partial<Record<string, Scope>> = { 'metrics:read': 'analytics:read' }
  const all = await createKey(app, scopes)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      path.startsWith('/api/v1/') && operation.security!.length > 0
        ? [{ method: method.toUpperCase(), url: path.replace(/\{[^}]+\}/g, 'nothing'), scope: operation['x-scope'] }]
        : [],
    ),
  )
  const used = new Set(operations.flatMap(({ scope }) => scope ?? []))
  expect([...used].sort()).toEqual([
    'broadcasts:read',
    'broadcasts:send',
    'broadcasts:write',
    'contacts:read',
    'contacts:write',
    'flows:read',
    'flows:send',
    'flows:write',
    'messages:read',
    'metrics:read',
    'webhooks:read',
    'webhooks:write',
  ])
  const lacking = new Map<string, string>()
  for (const scope of used)
    lacking.set(
      scope,
      await createKey(
        app,
        scopes.filter((each) => each !== scope && each !== aliasOf[scope]),
      ),
    )
  for (const { method, url, scope } of operations) {
    const allowed = await withKey(app, all, method, url)
    if (scope) {
      expect([method, url, [401, 403].includes(allowed.status)]).toEqual([method, url, false])
      const rejected = await withKey(app, lacking.get(scope)!, method, url)
      expect([method, url, rejected.status, rejected.body.error.type]).toEqual([method, url, 403, 'insufficient_scope'])
      expect(rejected.body.message).toBe(`This API key does not have the scope ${scope}.`)
    } else {
      expect([method, url, allowed.status, allowed.body.error?.type]).toEqual([method, url, 403, 'forbidden'])
    }
  }
})

test('a key without scopes, and every key from before, can call the public API only', async () => {
  const app = await newOrganization()
  const before = await createKey(app, ['contacts:write', 'analytics:read'])
  await app.db
    .statement`update api_keys set public_only = default where organization_id = ${parseId('org', app.organizationId)!}`
  for (const key of [await createKey(app), before]) {
    const check = await withKey(app, key, 'GET', '/public/api/v1/token/check')
    expect(check.body.data.scopes).toEqual(expect.arrayContaining(['contacts:write', 'analytics:read']))
    const rejected = await withKey(app, key, 'POST', '/api/v1/organization/contacts', { email: 'ada@example.com' })
    expect([rejected.status, rejected.body.error.type, rejected.body.message]).toEqual([
      403,
      'insufficient_scope',
      'This API key can call the public API only. Create a key with the scope contacts:write.',
    ])
  }
  const { body } = await app.manage('GET', '/organization/api-keys')
  expect(body.data.map((key: { public_only: boolean }) => key.public_only)).toEqual([true, true, true])
})

test('a program manages its resources with a key, also as a bearer token', async () => {
  const app = await newOrganization()
  const key = await createKey(app, ['contacts:read', 'contacts:write', 'flows:write', 'webhooks:write', 'flows:send'])
  const call = (method: string, path: string, body?: unknown) =>
    withKey(app, key, method, `/api/v1/organization${path}`, body)
  const contact = (await call('POST', '/contacts', { email: 'ada@example.com' })).body.data
  const headers = { authorization: `Bearer ${key}` }
  const read = await app.call('GET', `/api/v1/organization/contacts/${contact.id}`, { headers })
  expect(read.body.data.email).toBe('ada@example.com')
  const timeline = (await app.manage('GET', `/organization/contacts/${contact.id}/timeline`)).body.data
  expect(timeline[0].actor).toMatchObject({ type: 'api_key', name: 'Program' })

  const flow = (await call('POST', '/flows', orderFlow)).body.data
  await call('PATCH', `/flows/${flow.id}`, { subject: 'New: {{ order_id }}' })
  const versions = (await app.manage('GET', `/organization/flows/${flow.id}/versions`)).body.data
  expect(versions).toMatchObject([{ created_by: null }, { created_by: null }])
  const webhook = await call('POST', '/webhooks', { name: 'CRM', url: 'https://crm.example.com/', all_events: true })
  expect(webhook.body.data).toMatchObject({ created_by: null, signing_secret: expect.any(String) })
  const sent = await send(app, flow.id, {}, { 'x-api-token': key })
  expect(sent.status).toBe(200)
})

test('a revoked or unknown key is not accepted, and a key reaches its own organization only', async () => {
  const app = await newOrganization()
  const flowId = await createFlow(app)
  const other = await registerOther(app)
  const foreign = await create(other, '/api-keys', { name: 'k', scopes })
  const path = `/api/v1/organization/flows/${flowId}`
  expect((await withKey(app, foreign.api_key, 'GET', path)).status).toBe(404)
  expect((await withKey(app, foreign.api_key, 'DELETE', path)).status).toBe(404)
  expect((await withKey(app, foreign.api_key, 'GET', '/api/v1/organization/flows')).body.data).toEqual([])
  expect((await app.manage('GET', `/organization/flows/${flowId}`)).status).toBe(200)
  await other.manage('DELETE', `/organization/api-keys/${foreign.id}`)
  expect((await withKey(app, foreign.api_key, 'GET', path)).status).toBe(401)
  expect((await withKey(app, 'wxk_unknown', 'GET', path)).status).toBe(401)
})
