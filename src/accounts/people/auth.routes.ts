import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Db } from '../../platform/db/db.ts'
import { answers, created, creates, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { clientNetwork } from '../../platform/values/client-address.ts'
import { emailPaths } from '../../platform/values/email-path.ts'
import type { AccountEmails } from './account-emails.ts'
import { hasUsers } from './accounts.sql.ts'
import { login, register } from './accounts.ts'
import type { Sessions } from './sessions.ts'
import { Credential, NewPassword, organizationNameMax, SessionOut } from './shapes.ts'
import { startSession } from './start-session.ts'
import type { LoginThrottle } from './throttle.ts'

export type AuthParts = {
  db: Db
  sessions: Sessions
  throttle: LoginThrottle
  signup: 'first-user' | 'open'
  signUpLimit: RateLimit
  accountEmails: Pick<AccountEmails, 'pathOfResets'>
}

/** Routes without a credential: registration and sign-in. */
export function authRoutes(parts: AuthParts): FastifyPluginAsyncTypebox {
  const { db, throttle, signup, signUpLimit, accountEmails } = parts
  return async (api) => {
    tagRoutes(api, 'Accounts')
    api.get('/auth/state', {
      config: { permission: 'public' },
      schema: {
        operationId: 'getRegistrationStatus',
        summary: 'Get the registration status',
        description:
          'Registration is open while the installation has no user, or always if the operator sets `SIGNUP=open`. Sign-in pages use this to decide which form to show.',
        response: answers(
          Named('RegistrationStatus', {
            registration_open: Type.Boolean(),
            has_users: Type.Boolean(),
            password_reset_emails: {
              ...oneOf(...emailPaths, 'depends'),
              description:
                'What happens to emails with links to set a new password: they are sent, wait because the mail server does not accept email, or are kept in the built-in inbox, where owners can read them. `depends`: on the mail servers of the organization of the user.',
            },
          }),
        ),
      },
      handler: async () => {
        const any = await hasUsers(db)
        return ok({
          registration_open: signup === 'open' || !any,
          has_users: any,
          password_reset_emails: await accountEmails.pathOfResets(),
        })
      },
    })

    api.post('/auth/register', {
      config: { permission: 'public' },
      schema: {
        operationId: 'register',
        summary: 'Create an organization and its owner',
        description:
          'Returns a session of the new owner. Passwords have 10 to 256 characters and must not be easy to guess. The first organization of an installation is the one that operates it.',
        errors: {
          forbidden: 'Registration is closed. Ask an owner for an invitation.',
          conflict: 'An account with this email address already exists.',
          rate_limited: 'Too many organizations were registered from your address.',
        },
        body: Type.Object({
          organization_name: Type.String({ minLength: 1, maxLength: organizationNameMax }),
          email: Credential,
          password: NewPassword,
          timezone: Type.Optional(
            Type.String({ maxLength: 64, description: 'The IANA time zone of the organization. UTC by default.' }),
          ),
        }),
        response: creates(SessionOut),
      },
      handler: async (request, reply) => {
        const { organization_name: organizationName, email, password, timezone } = request.body
        const network = clientNetwork(request.ip)
        signUpLimit.take(network)
        const user = await register(db, signup, { organizationName, email, password, timezone }).catch((error) => {
          // Only organizations count.
          signUpLimit.giveBack(network)
          throw error
        })
        return reply.status(201).send(created(await startSession(parts, user, request), 'Welcome'))
      },
    })

    api.post('/auth/login', {
      config: { permission: 'public' },
      schema: {
        operationId: 'login',
        summary: 'Sign in',
        description:
          'Returns a session token that is valid for twelve hours. Send it as `Authorization: Bearer <token>`. After 10 failed attempts on an account from one address within 15 minutes, further attempts are rejected with 429.',
        errors: { unauthorized: 'The email address or the password is incorrect. The two cases look the same.' },
        body: Type.Object({ email: Credential, password: Credential }),
        response: answers(SessionOut),
      },
      handler: async (request) => {
        const { email, password } = request.body
        const user = await login(db, throttle, { email, password, address: request.ip })
        return ok(await startSession(parts, user, request))
      },
    })
  }
}
