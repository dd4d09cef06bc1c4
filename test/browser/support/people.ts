import { callUrl } from '../../support/test-app.ts'
import type { Account, Service } from './service.ts'

export async function join(
  service: Service,
  account: Account,
  email: string,
  role: 'owner' | 'member',
): Promise<Account> {
  const password = 'correct horse battery'
  const made = await service.manage(account.session, 'POST', '/organization/invitations', { email, role })
  const token = made.body.data.url.split('/').at(-1)
  const joined = await callUrl('POST', `${service.url}api/v1/auth/accept-invitation`, { body: { token, password } })
  return { email, password, session: joined.body.data.token }
}
