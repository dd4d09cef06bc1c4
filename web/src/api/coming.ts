// Routes that the OpenAPI document does not have yet.
type Ok<D> = {
  200: {
    headers: Record<string, unknown>
    content: { 'application/json': { code: 200; status: 'success'; message: string; data: D } }
  }
}
type None = { query?: never; header?: never; path?: never; cookie?: never }
type Id = { query?: never; header?: never; path: { id: string }; cookie?: never }
type Get<D, P = None> = { parameters: P; requestBody?: never; responses: Ok<D> }
type Send<B, D, P = None> = { parameters: P; requestBody: { content: { 'application/json': B } }; responses: Ok<D> }
type Role = 'owner' | 'member'
type Org = {
  id: string
  name: string
  timezone: string
  keep_addresses: boolean
  retention_days: number | null
  created_at: string
}
type Mem = { id: string; email: string; role: Role; created_at: string; last_login_at: string | null }
type Inv = { id: string; email: string | null; role: Role; created_at: string; expires_at: string }
type Signed = {
  token: string
  expires_at: string
  organization_id: string
  user: { id: string; email: string; role: Role; created_at: string }
}
type Sending = {
  transport: 'inbox' | 'smtp'
  relay: { host: string; port: number; secure: boolean; user: string | null } | null
  mail_from: string
  state: 'ok' | 'failing' | 'unknown'
  last_error: string | null
  last_sent_at: string | null
  queued: number
  dkim: { domain: string; selector: string } | null
  bounce_domain: string | null
  records: {
    type: string
    name: string
    value: string
    purpose: string
    status: 'unchecked' | 'found' | 'missing' | 'different'
    found: string | null
  }[]
  checked_at: string | null
}
declare module './schema.d.ts' {
  interface paths {
    '/api/v1/auth/invitations/{token}': {
      get: Get<
        { organization_name: string; email: string | null; role: Role; expires_at: string },
        { query?: never; header?: never; path: { token: string }; cookie?: never }
      >
    }
    '/api/v1/auth/accept-invitation': { post: Send<{ token: string; email?: string; password: string }, Signed> }
    '/api/v1/organization': { get: Get<Org>; patch: Send<Partial<Org>, Org> }
    '/api/v1/organization/members': { get: Get<Mem[]> }
    '/api/v1/organization/members/{id}': { patch: Send<{ role: Role }, Mem, Id>; delete: Get<null, Id> }
    '/api/v1/organization/invitations': {
      get: Get<Inv[]>
      post: Send<{ email?: string; role: Role }, Inv & { token: string; url: string }>
    }
    '/api/v1/organization/invitations/{id}': { delete: Get<null, Id> }
    '/api/v1/organization/sending': { get: Get<Sending> }
    '/api/v1/organization/sending/check': { post: Get<Sending> }
  }
}

export {}
