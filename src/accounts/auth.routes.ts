import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Db } from '../db/db.ts'
import { answers, created, creates, Nothing, ok, oneOf } from '../http/envelope.ts'
import { hasUsers, raiseSessionEpoch } from './accounts.sql.ts'
import { changePassword, login, register } from './accounts.ts'
import { isOperator, memberOf } from './guards.ts'
import type { Sessions } from './sessions.ts'
import {
  Credential,
  OrganizationOut,
  organizationNameMax,
  organizationOut,
  RoleOut,
  SessionOut,
  sessionOut,
  UserOut,
  userOut,
} from './shapes.ts'
import type { LoginThrottle } from './throttle.ts'

export type AuthParts = {
  db: Db
  sessions: Sessions
  throttle: LoginThrottle
  signup: 'first-user' | 'open'
  /** Where emails go. Shown in the web app. */
  mailTransport: 'inbox' | 'smtp'
}

const tags = ['Accounts']

/** Routes without a credential: registration and sign-in. */
export function authRoutes({ db, sessions, throttle, signup }: AuthParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/auth/state',
      {
        schema: {
          tags,
          summary: 'Get the registration status',
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
          tags,
          summary: 'Create an organization and its owner',
          body: Type.Object({
            organization_name: Type.String({ minLength: 1, maxLength: organizationNameMax }),
            email: Credential,
            password: Credential,
          }),
          response: creates(SessionOut),
        },
      },
      async (request, reply) => {
        const { organization_name: organizationName, email, password } = request.body
        const user = await register(db, signup, { organizationName, email, password })
        return reply.status(201).send(created(await sessionOut(sessions, user), 'Welcome'))
      },
    )

    api.post(
      '/auth/login',
      {
        schema: {
          tags,
          summary: 'Sign in',
          body: Type.Object({ email: Credential, password: Credential }),
          response: answers(SessionOut),
        },
      },
      async (request) => {
        const { email, password } = request.body
        const user = await login(db, throttle, { email, password, address: request.ip })
        return ok(await sessionOut(sessions, user))
      },
    )
  }
}

export function meRoutes({ db, sessions, throttle, mailTransport }: AuthParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/me',
      {
        schema: {
          tags,
          summary: 'Get the signed-in user',
          response: answers(
            Type.Object({
              user: UserOut,
              organization: OrganizationOut,
              role: RoleOut,
              operator: Type.Boolean({ description: 'Whether you can see and check the settings of the mail server.' }),
              mail: Type.Object({ transport: oneOf('inbox', 'smtp') }),
            }),
          ),
        },
      },
      async (request) => {
        const member = memberOf(request)
        return ok({
          user: userOut(member),
          organization: organizationOut(member.organization),
          role: member.role,
          operator: isOperator(member),
          mail: { transport: mailTransport },
        })
      },
    )

    api.post(
      '/me/sign-out-everywhere',
      {
        schema: {
          tags,
          summary: 'Sign out everywhere',
          description: 'Ends all sessions of this account, including the current one.',
          response: answers(Nothing),
        },
      },
      async (request) => {
        await raiseSessionEpoch(db.statement, memberOf(request))
        return ok(null, 'You are signed out everywhere')
      },
    )

    api.post(
      '/me/password',
      {
        schema: {
          tags,
          summary: 'Change the password',
          description: 'Ends all sessions of this account and returns a new one.',
          body: Type.Object({ current_password: Credential, new_password: Credential }),
          response: answers(SessionOut),
        },
      },
      async (request) => {
        const { current_password: currentPassword, new_password: newPassword } = request.body
        const change = { currentPassword, newPassword, address: request.ip }
        const account = await changePassword(db, throttle, memberOf(request), change)
        return ok(await sessionOut(sessions, account), 'Password changed')
      },
    )
  }
}
