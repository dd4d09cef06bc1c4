import { expect, test } from 'vitest'
import { join, password, registerOther } from '../../../test/support/people.ts'
import { create } from '../../../test/support/resources.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { parseId } from '../../platform/values/ids.ts'

const newOrganization = await startSharedApp({}, ['serve'])

const myId = async (app: TestApp) => (await app.manage('GET', '/me')).body.data.user.id as string

test('members can list all members and their last sign-in', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  await app.db
    .statement`delete from sign_ins where organization_id = ${parseId('org', app.organizationId)} and user_id = ${parseId('usr', await myId(app))}`
  await registerOther(app)

  const list = await bob.manage('GET', '/organization/members')

  expect(list.body.data).toMatchObject([
    { email: 'owner@acme.example', role: 'owner', last_login_at: null },
    { id: bob.id, email: 'bob@acme.example', role: 'member', last_login_at: expect.any(String) },
  ])
  await app.call('POST', '/api/v1/auth/login', { body: { email: 'owner@acme.example', password } })
  const [owner, other] = (await bob.manage('GET', '/organization/members')).body.data
  expect(owner.last_login_at).toEqual(expect.any(String))
  expect(other).toEqual(list.body.data[1])
})

test('a member cannot change the organization, team or invitations', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  const owner = await myId(app)
  const tries: [string, string, unknown?][] = [
    ['PATCH', '/organization', { name: 'Mine' }],
    ['PATCH', `/organization/members/${bob.id}`, { role: 'owner' }],
    ['PATCH', `/organization/members/${owner}`, {}],
    ['DELETE', `/organization/members/${owner}`],
    ['GET', '/organization/invitations'],
    ['POST', '/organization/invitations', { role: 'owner' }],
    ['DELETE', '/organization/invitations/inv_nothing'],
  ]
  for (const [method, path, body] of tries) {
    const answer = await bob.manage(method, path, body)
    expect([method, path, answer.status, answer.body.error.type]).toEqual([method, path, 403, 'forbidden'])
  }
})

test('a new role applies to open sessions, and a removed member is signed out immediately', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  const promoted = await app.manage('PATCH', `/organization/members/${bob.id}`, { role: 'owner' })
  expect(promoted.body.data).toMatchObject({ id: bob.id, role: 'owner' })
  expect((await bob.manage('GET', '/organization/invitations')).status).toBe(200)

  expect((await app.manage('DELETE', `/organization/members/${bob.id}`)).body.data).toBeNull()
  expect((await bob.manage('GET', '/me')).status).toBe(401)
  const login = await app.call('POST', '/api/v1/auth/login', { body: { email: bob.email, password } })
  expect(login.status).toBe(401)
})

test('the last owner can be neither demoted nor removed', async () => {
  const app = await newOrganization()
  await join(app, 'bob@acme.example', 'member')
  const owner = await myId(app)
  for (const answer of [
    await app.manage('PATCH', `/organization/members/${owner}`, { role: 'member' }),
    await app.manage('DELETE', `/organization/members/${owner}`),
  ]) {
    expect([answer.status, answer.body.error.type]).toEqual([409, 'conflict'])
  }
  expect((await app.manage('GET', '/me')).body.data.role).toBe('owner')
})

test('owners who demote and remove each other concurrently leave exactly one', async () => {
  const app = await newOrganization()
  const organizationId = parseId('org', app.organizationId)!
  const owner = parseId('usr', await myId(app))!
  for (let round = 0; round < 5; round++) {
    const email = `owner${round}@acme.example`
    const ada = await join(app, `ada${round}@acme.example`, 'owner')
    const bob = await join(app, email, 'owner')
    await app.db.statement`update users set role = 'member' where id = ${owner}`

    const answers = await Promise.all([
      ada.manage('PATCH', `/organization/members/${bob.id}`, { role: 'member' }),
      bob.manage('DELETE', `/organization/members/${ada.id}`),
    ])

    const owners = await app.db`select id from users where organization_id = ${organizationId} and role = 'owner'`
    expect(owners).toHaveLength(1)
    // The second request is rejected by the guard, or because it would remove the last owner.
    const statuses = answers.map(({ status }) => status).sort()
    expect([
      [200, 401],
      [200, 403],
      [200, 409],
    ]).toContainEqual(statuses)
    await app.db.statement`delete from users where organization_id = ${organizationId} and id <> ${owner}`
    await app.db.statement`update users set role = 'owner' where id = ${owner}`
  }
})

test('returns 404 for members of another organization', async () => {
  const app = await newOrganization()
  const other = await registerOther(app)
  const answers = [
    await app.manage('PATCH', `/organization/members/${other.id}`, { role: 'member' }),
    await app.manage('DELETE', `/organization/members/${other.id}`),
    await app.manage('DELETE', '/organization/members/nonsense'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  expect((await other.manage('GET', '/me')).body.data.role).toBe('owner')
})

test('rejects an unknown role', async () => {
  const app = await newOrganization()
  const bob = await join(app, 'bob@acme.example', 'member')
  const answer = await app.manage('PATCH', `/organization/members/${bob.id}`, { role: 'king' })
  expect(answer.body.error.fields).toEqual([{ path: 'role', problem: 'must be one of owner, member' }])
})

test('withdraws the invitations of an owner who is demoted or removed', async () => {
  const app = await newOrganization()
  const eve = await join(app, 'eve@acme.example', 'owner')
  const kept = await create(app, '/invitations', { role: 'member' })
  const inviteTwice = async () => {
    const bodies = [{ email: 'eve2@acme.example', role: 'owner' }, { role: 'member' }]
    const made = await Promise.all(bodies.map((body) => eve.manage('POST', '/organization/invitations', body)))
    return made.map(({ body }) => body.data.token as string)
  }
  const statusOf = async (token: string) => (await app.call('GET', `/api/v1/auth/invitations/${token}`)).status

  const beforeDemotion = await inviteTwice()
  await app.manage('PATCH', `/organization/members/${eve.id}`, { role: 'member' })
  expect(await Promise.all(beforeDemotion.map(statusOf))).toEqual([404, 404])

  await app.manage('PATCH', `/organization/members/${eve.id}`, { role: 'owner' })
  const beforeRemoval = await inviteTwice()
  await app.manage('DELETE', `/organization/members/${eve.id}`)
  expect(await Promise.all(beforeRemoval.map(statusOf))).toEqual([404, 404])
  const accepted = await app.call('POST', '/api/v1/auth/accept-invitation', {
    body: { token: beforeRemoval[0], password },
  })
  expect(accepted.status).toBe(404)
  expect(await statusOf(kept.token)).toBe(200)
})

test('no invitation remains after its inviter is removed, however requests interleave', async () => {
  const app = await newOrganization()
  for (let round = 0; round < 5; round++) {
    const eve = await join(app, `eve${round}@acme.example`, 'owner')
    const body = { email: `friend${round}@acme.example`, role: 'owner' }
    await Promise.all([
      eve.manage('POST', '/organization/invitations', body),
      app.manage('DELETE', `/organization/members/${eve.id}`),
      eve.manage('POST', '/organization/invitations', { role: 'member' }),
    ])
    expect(
      await app.db`select from invitations where organization_id = ${parseId('org', app.organizationId)!}`,
    ).toEqual([])
  }
})

test('a link without an address can only invite members', async () => {
  const app = await newOrganization()
  const answer = await app.manage('POST', '/organization/invitations', { role: 'owner' })
  expect(answer.body.error.fields).toEqual([{ path: 'role', problem: 'must be "member" unless email is given' }])
})

test('API keys and webhooks name their creator, and can be stopped when the creator is removed', async () => {
  const app = await newOrganization()
  const make = async (email: string) => {
    const person = await join(app, email, 'member')
    const key = await create(person, '/api-keys', { name: 'Shop' })
    const webhook = await create(person, '/webhooks', {
      name: 'CRM',
      url: 'http://127.0.0.1:9/',
      all_events: true,
    })
    return { ...person, key, webhook }
  }
  const checkKey = async (key: string) =>
    (await app.call('GET', '/public/api/v1/token/check', { headers: { 'x-api-token': key } })).status
  const [bob, eve] = [await make('bob@acme.example'), await make('eve@acme.example')]
  expect(bob.key.created_by).toEqual({ id: bob.id, email: 'bob@acme.example' })
  expect(bob.webhook.created_by).toEqual({ id: bob.id, email: 'bob@acme.example' })

  await app.manage('DELETE', `/organization/members/${bob.id}`)
  await app.manage('DELETE', `/organization/members/${eve.id}?revoke_api_keys=true&pause_webhooks=true`)

  expect([await checkKey(bob.key.api_key), await checkKey(eve.key.api_key)]).toEqual([200, 401])
  const keys = (await app.manage('GET', '/organization/api-keys')).body.data
  expect(keys.map(({ created_by }: { created_by: unknown }) => created_by)).toEqual([
    { id: bob.id, email: null },
    { id: await myId(app), email: 'owner@acme.example' },
  ])
  const webhooks = (await app.manage('GET', '/organization/webhooks')).body.data
  expect(webhooks).toMatchObject([
    { id: eve.webhook.id, status: 'paused', paused_reason: expect.any(String), created_by: { email: null } },
    { id: bob.webhook.id, status: 'active', created_by: { id: bob.id, email: null } },
  ])
})

test('a member removed while creating an API key leaves no key', async () => {
  const app = await newOrganization()
  for (let round = 0; round < 5; round++) {
    const eve = await join(app, `eve${round}@acme.example`, 'member')
    await Promise.all([
      eve.manage('POST', '/organization/api-keys', { name: 'Back door' }),
      app.manage('DELETE', `/organization/members/${eve.id}?revoke_api_keys=true`),
    ])
  }
  const keys = (await app.manage('GET', '/organization/api-keys')).body.data
  expect(keys.map(({ name }: { name: string }) => name)).toEqual(['test'])
})
