import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import { answers, created, creates, ok, oneOf, Timestamp } from '../http/envelope.ts'
import { toText } from '../ids.ts'
import { hasUsers, type User } from './accounts.sql.ts'
import { login, register } from './accounts.ts'
import { memberOf } from './guards.ts'
import type { Sessions } from './sessions.ts'
import type { LoginThrottle } from './throttle.ts'

export type AuthParts = {
  db: Db
  sessions: Sessions
  throttle: LoginThrottle
  signup: 'first-user' | 'open'
  /** Where mail goes, which the web app tells people. */
  mailTransport: 'inbox' | 'smtp'
}

const RoleOut = oneOf('owner', 'member')
const UserOut = Type.Object({ id: Type.String(), email: Type.String(), role: RoleOut, created_at: Timestamp })
const SessionOut = Type.Object({
  token: Type.String(),
  expires_at: Timestamp,
  organization_id: Type.String(),
  user: UserOut,
})
const OrganizationOut = Type.Object({
  id: Type.String(),
  name: Type.String(),
  timezone: Type.String(),
  keep_addresses: Type.Boolean(),
  created_at: Timestamp,
})
const Credential = Type.String({ minLength: 1, maxLength: 1024 })

/** No credential needed: how one gets one. */
export function authRoutes({ db, sessions, throttle, signup }: AuthParts): FastifyPluginAsyncTypebox {
  const sessionOut = async (user: User) => {
    const { token, expiresAt } = await sessions.issue({ userId: user.id, organizationId: user.organizationId })
    return {
      token,
      expires_at: expiresAt.toISOString(),
      organization_id: toText('org', user.organizationId),
      user: userOut(user),
    }
  }

  return async (api) => {
    api.get(
      '/auth/state',
      {
        schema: {
          tags: ['Accounts'],
          summary: 'Whether one can register here',
          response: answers(Type.Object({ registration_open: Type.Boolean(), has_users: Type.Boolean() })),
        },
      },
      async () => {
        const any = await hasUsers(db)
        return ok({ registration_open: signup === 'open' || !any, has_users: any })
      },
    )

    api.post(
      '/auth/register',
      {
        schema: {
          tags: ['Accounts'],
          summary: 'Create an organization and its owner',
          body: Type.Object({
            organization_name: Type.String({ minLength: 1, maxLength: 200 }),
            email: Credential,
            password: Credential,
          }),
          response: creates(SessionOut),
        },
      },
      async (request, reply) => {
        const { organization_name: organizationName, email, password } = request.body
        const user = await register(db, signup, { organizationName, email, password })
        return reply.status(201).send(created(await sessionOut(user), 'Welcome'))
      },
    )

    api.post(
      '/auth/login',
      {
        schema: {
          tags: ['Accounts'],
          summary: 'Log in',
          body: Type.Object({ email: Credential, password: Credential }),
          response: answers(SessionOut),
        },
      },
      async (request: FastifyRequest<{ Body: { email: string; password: string } }>) =>
        ok(await sessionOut(await login(db, throttle, { ...request.body, address: request.ip }))),
    )
  }
}

export function meRoutes({ mailTransport }: Pick<AuthParts, 'mailTransport'>): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/me',
      {
        schema: {
          tags: ['Accounts'],
          summary: 'Who is logged in',
          response: answers(
            Type.Object({
              user: UserOut,
              organization: OrganizationOut,
              role: RoleOut,
              mail: Type.Object({ transport: oneOf('inbox', 'smtp') }),
            }),
          ),
        },
      },
      async (request) => {
        const member = memberOf(request)
        const { organization } = member
        return ok({
          user: userOut(member),
          organization: {
            id: toText('org', organization.id),
            name: organization.name,
            timezone: organization.timezone,
            keep_addresses: organization.keepAddresses,
            created_at: organization.createdAt.toISOString(),
          },
          role: member.role,
          mail: { transport: mailTransport },
        })
      },
    )
  }
}

const userOut = (user: User) => ({
  id: toText('usr', user.id),
  email: user.email,
  role: user.role,
  created_at: user.createdAt.toISOString(),
})
