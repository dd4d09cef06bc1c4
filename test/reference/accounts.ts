import { recordNotice } from '../../src/operations/notices/notices.ts'
import { parseId } from '../../src/platform/values/ids.ts'
import { accountEmailTo, tokenIn } from '../support/account-email.ts'
import { queuedNoticeEmails } from '../support/notice-emails.ts'
import { until } from '../support/until.ts'
import type { Recorder } from './recorder.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'
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
  await recorder.record('login', {
    body: { email: 'maria@northwind.example', password },
    hiddenHeaders: { 'user-agent': firefox },
  })
  await recorder.record('login', { body: { email: 'maria@northwind.example', password: 'guess' }, status: 401 })
  await recorder.record('getMe')
  await recorder.record('updateMe', { body: { name: 'Ada Lovelace', alerts: { imports: false } } })
  const owner = await recordRecovery(recorder, registered.data.token)
  await recordEmailChange(recorder, owner)
  await recordSessions(recorder, owner)
  const again = await app.call('POST', '/api/v1/auth/login', {
    body: { email: 'maria@northwind.example', password: `${password} again` },
  })

  await recordTeam(recorder)
  await recorder.record('getOrganization')
  await recorder.record('updateOrganization', { body: { timezone: 'Europe/Vienna' } })
  const organizationId = parseId('org', app.organizationId)!
  const stopped = { kind: 'broadcast_expired' as const, title: 'The broadcast “May news” was not sent' }
  const detail = 'It could not start within an hour. Nobody received it. Duplicate it to send it at another time.'
  await app.db.begin((tx) => recordNotice(tx, { organizationId, ...stopped, detail }))
  const notices = await recorder.record('listNotices', { query: { state: 'open' } })
  await recorder.record('dismissNotice', { params: { id: notices.data[0].id } })
  await until('the emails about notices', async () => (await queuedNoticeEmails(app.db)).length === 0)
  await recorder.record('deleteOrganization', {
    as: { session: again.body.data.token },
    body: { name: 'Northwind Books', password: `${password} again` },
  })
  await recordApiKeys(recorder)
  // The inbox is recorded later, with the emails of flows only.
  await until(
    'the account emails',
    async () => (await app.db`select from jobs where kind = 'account.email'`).length === 0,
  )
  await app.manage('DELETE', '/organization/inbox')
}

const asUser = ({ app }: Recorder, session: string) => ({
  manage: (method: string, path: string) =>
    app.call(method, `/api/v1${path}`, { headers: { authorization: `Bearer ${session}` } }),
})

/** Returns the session after the reset. */
async function recordRecovery(recorder: Recorder, before: string): Promise<{ session: string }> {
  const email = 'maria@northwind.example'
  await recorder.record('requestPasswordReset', { body: { email } })
  const token = tokenIn((await accountEmailTo(asUser(recorder, before), email, /^Reset/)).link)
  await recorder.record('checkPasswordReset', { body: { token } })
  const reset = await recorder.record('resetPassword', { body: { token, password: `${password} now` } })
  await recorder.record('resetPassword', { body: { token, password: `${password} now` }, status: 404 })
  return { session: reset.data.token }
}

/** Changes the address and back. */
async function recordEmailChange(recorder: Recorder, as: { session: string }): Promise<void> {
  const { app } = recorder
  const reader = asUser(recorder, as.session)
  const change = (email: string) => ({ email, current_password: `${password} now` })
  await recorder.record('changeEmail', { as, body: change('maria.novak@northwind.example') })
  const { link } = await accountEmailTo(reader, 'maria.novak@northwind.example', /^Confirm/)
  await recorder.record('checkEmailChange', { body: { token: tokenIn(link) } })
  await recorder.record('confirmEmailChange', { body: { token: tokenIn(link) } })
  const headers = { authorization: `Bearer ${as.session}` }
  await app.call('POST', '/api/v1/me/email', { headers, body: change('maria@northwind.example') })
  const back = await accountEmailTo(reader, 'maria@northwind.example', /^Confirm/)
  await app.call('POST', '/api/v1/auth/confirm-email-change', { body: { token: tokenIn(back.link) } })
  await recorder.record('cancelEmailChange', { as })
}

async function recordSessions(recorder: Recorder, as: { session: string }): Promise<void> {
  const { app } = recorder
  const body = { email: 'maria@northwind.example', password: `${password} now` }
  const login = async () =>
    (await app.call('POST', '/api/v1/auth/login', { headers: { 'user-agent': firefox }, body })).body.data
      .token as string
  await login()
  const third = { session: await login() }
  const listed = await recorder.record('listSessions', {
    as: third,
    shorten: ({ data, ...envelope }: { data: unknown[] }) => ({ ...envelope, data: data.slice(0, 2) }),
  })
  await recorder.record('endSession', { as: third, params: { id: listed.data[1].id } })
  await recorder.record('signOut', { as: third })
  const changed = await recorder.record('changePassword', {
    as,
    body: { current_password: `${password} now`, new_password: `${password} again` },
  })
  await recorder.record('signOutEverywhere', { as: { session: changed.data.token } })
}

async function recordTeam(recorder: Recorder): Promise<void> {
  const { app } = recorder
  const invitation = await recorder.record('createInvitation', { body: { email: 'noah@acme.example', role: 'member' } })
  const first = await accountEmailTo(app, 'noah@acme.example', /^Join/)
  await recorder.record('listInvitations')
  // As if a mail server were connected.
  await app.db.statement`update invitations set sent_at = now()`
  await recorder.record('resendInvitation', { params: { id: invitation.data.id }, status: 429 })
  await app.db.statement`update invitations set sent_at = now() - interval '2 minutes'`
  await recorder.record('resendInvitation', { params: { id: invitation.data.id } })
  const { link } = await accountEmailTo(app, 'noah@acme.example', /^Join/, ({ id }) => id !== first.id)
  const token = tokenIn(link)
  await recorder.record('getInvitation', { params: { token } })
  const noah = await recorder.record('acceptInvitation', { body: { token, name: 'Noah', password } })
  await recorder.record('getInvitation', { params: { token }, status: 404 })
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
  await recordApiRequests(recorder)
}

async function recordApiRequests(recorder: Recorder): Promise<void> {
  const { app } = recorder
  const body = { group_id: 'grp_06etyr5hk9c8zdw3', members: [{ email: 'ada@example.com' }] }
  const { headers } = await app.publicApi('POST', '/contacts/add-group-members', body)
  const id = headers.get('x-request-id')!
  await until('the request to be stored', async () => {
    const { status } = await app.manage('GET', `/organization/api-requests/${id}`)
    return status === 200
  })
  await recorder.record('listApiRequests', { query: { status: '4xx' } })
  await recorder.record('getApiRequest', { params: { id } })
}
