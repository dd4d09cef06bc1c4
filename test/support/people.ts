import type { Answer, TestApp } from './test-app.ts'

export const password = 'correct horse battery'

export type Person = {
  id: string
  email: string
  organizationId: string
  /** Sends a request with this user's session; `path` is below /api/v1. */
  manage(method: string, path: string, body?: unknown): Promise<Answer>
}

/** Creates a member of the test's organization through an invitation. */
export async function join(app: TestApp, email: string, role: 'owner' | 'member'): Promise<Person> {
  const { body } = await app.manage('POST', '/organization/invitations', { email, role, send_email: false })
  const accepted = await app.call('POST', '/api/v1/auth/accept-invitation', {
    body: { token: body.data.token, password },
  })
  return toPerson(app, accepted)
}

let others = 0

/** Registers another organization and returns its owner. */
export async function registerOther(app: TestApp, email = `owner${++others}@other.example`): Promise<Person> {
  const body = { organization_name: 'Other', email, password }
  return toPerson(app, await app.call('POST', '/api/v1/auth/register', { body }))
}

function toPerson(app: TestApp, { status, text, body }: Answer): Person {
  if (status !== 201) throw new Error(text)
  const { token, organization_id: organizationId, user } = body.data
  const headers = { authorization: `Bearer ${token}` }
  const manage = (method: string, path: string, sent?: unknown) =>
    app.call(method, `/api/v1${path}`, { headers, body: sent })
  return { id: user.id, email: user.email, organizationId, manage }
}
