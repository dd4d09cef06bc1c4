import type { Recorder } from './recorder.ts'

const password = 'violet anchor drizzle maple'

/** Accounts, team, organization and API keys. */
export async function recordAccounts(recorder: Recorder): Promise<void> {
  const { app } = recorder
  await recorder.record('getRegistrationStatus')
  const registered = await recorder.record('register', {
    body: { organization_name: 'Northwind Books', email: 'maria@northwind.example', password },
  })
  await recorder.record('register', {
    body: { organization_name: 'Northwind Books', email: 'maria@northwind.example', password: 'short' },
    status: 422,
  })
  const maria = { session: registered.data.token as string }
  await recorder.record('login', { body: { email: 'maria@northwind.example', password } })
  await recorder.record('login', { body: { email: 'maria@northwind.example', password: 'guess' }, status: 401 })
  await recorder.record('getMe')
  const changed = await recorder.record('changePassword', {
    as: maria,
    body: { current_password: password, new_password: `${password} again` },
  })
  await recorder.record('signOutEverywhere', { as: { session: changed.data.token } })
  const again = await app.call('POST', '/api/v1/auth/login', {
    body: { email: 'maria@northwind.example', password: `${password} again` },
  })

  await recordTeam(recorder)
  await recorder.record('getOrganization')
  await recorder.record('updateOrganization', { body: { timezone: 'Europe/Vienna' } })
  await recorder.record('listNotices')
  await recorder.record('deleteOrganization', {
    as: { session: again.body.data.token },
    body: { name: 'Northwind Books', password: `${password} again` },
  })
  await recordApiKeys(recorder)
}

async function recordTeam(recorder: Recorder): Promise<void> {
  const invitation = await recorder.record('createInvitation', { body: { email: 'noah@acme.example', role: 'member' } })
  await recorder.record('listInvitations')
  await recorder.record('getInvitation', { params: { token: invitation.data.token } })
  const noah = await recorder.record('acceptInvitation', { body: { token: invitation.data.token, password } })
  await recorder.record('getInvitation', { params: { token: invitation.data.token }, status: 404 })
  await recorder.record('listMembers')
  const { id } = noah.data.user
  await recorder.record('updateMember', { params: { id }, body: { role: 'owner' } })
  await recorder.record('removeMember', { params: { id }, query: { revoke_api_keys: 'true' } })
  const withdrawn = await recorder.app.manage('POST', '/organization/invitations', { role: 'member' })
  await recorder.record('deleteInvitation', { params: { id: withdrawn.body.data.id } })
}

async function recordApiKeys(recorder: Recorder): Promise<void> {
  const key = await recorder.record('createApiKey', {
    body: { name: 'Shop backend', scopes: ['contacts:write', 'flows:send'] },
  })
  await recorder.record('listApiKeys')
  await recorder.record('checkToken')
  await recorder.record('revokeApiKey', { params: { id: key.data.id } })
}
