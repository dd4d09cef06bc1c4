import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Db } from '../../platform/db/db.ts'
import { answers, Named, Nothing, ok, Timestamp } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { EmailPath } from '../../platform/values/email-path.ts'
import type { AccountEmails } from './account-emails.ts'
import { confirmEmailChange, getEmailChange } from './email-changes.ts'
import { linkTokenMax } from './link-tokens.ts'
import { getReset, type ResetLimit, requestPasswordReset, resetPasswordByLink } from './password-resets.ts'
import type { Sessions } from './sessions.ts'
import { Credential, NewPassword, SessionOut } from './shapes.ts'
import { startSession } from './start-session.ts'

export type RecoveryParts = { db: Db; sessions: Sessions; accountEmails: AccountEmails; resetLimit: ResetLimit }
const LinkBody = Named('LinkToken', {
  token: Type.String({ maxLength: linkTokenMax, description: 'From the link in the email.' }),
})

/**
 * Routes without a credential: password resets and confirmations of an email address. Tokens are sent in bodies and in
 * the fragments of links, so that they are not written to the access log of a proxy.
 */
export function recoveryRoutes(parts: RecoveryParts): FastifyPluginAsyncTypebox {
  const { db, accountEmails, resetLimit } = parts
  return async (api) => {
    tagRoutes(api, 'Accounts')
    api.post('/auth/forgot-password', {
      config: { permission: 'public' },
      schema: {
        operationId: 'requestPasswordReset',
        summary: 'Request a password reset',
        description:
          'Sends an email with a link that is valid for 30 minutes, if the address has an account. The response is the same if it has none. Limited to 3 requests per email address and 20 per client address in 15 minutes. The new link does not replace earlier ones: up to 3 are valid at the same time, until one of them is used. Without a mail server that may carry it, the email is in the built-in inbox, where only owners can read it; `password_reset_emails` of the registration status says so.',
        errors: { rate_limited: 'Too many requests for this email address or from this client address.' },
        body: Type.Object({ email: Credential }),
        response: answers(Nothing),
      },
      handler: async (request) => {
        await requestPasswordReset(db, resetLimit, { email: request.body.email, address: request.ip })
        return ok(null, resetMessages[await accountEmails.pathOfResets()])
      },
    })

    api.post('/auth/check-password-reset', {
      config: { permission: 'public' },
      schema: {
        operationId: 'checkPasswordReset',
        summary: 'Check a password reset link',
        description: 'Returns 404 if the link was used, has expired, or never existed. Does not use up the link.',
        errors: { not_found: 'The link was used or has expired.' },
        body: LinkBody,
        response: answers(Named('PasswordReset', { email: Type.String(), expires_at: Timestamp })),
      },
      handler: async (request) => {
        const { email, expiresAt } = await getReset(db, request.body.token)
        return ok({ email, expires_at: expiresAt.toISOString() })
      },
    })

    api.post('/auth/reset-password', {
      config: { permission: 'public' },
      schema: {
        operationId: 'resetPassword',
        summary: 'Set a new password with a reset link',
        description:
          'The link can be used once. Ends all sessions of the account, makes its other links invalid, and returns a new session. The new password has 10 to 256 characters and must not be easy to guess. The user gets an email about the change.',
        errors: {
          not_found: 'The link was used or has expired.',
          validation_failed: 'The new password is too short or easy to guess. The link stays valid.',
        },
        body: Type.Object({ ...LinkBody.properties, password: NewPassword }),
        response: answers(SessionOut),
      },
      handler: async (request) => {
        const user = await resetPasswordByLink(parts, request.body)
        return ok(await startSession(parts, user, request), 'Password changed')
      },
    })

    api.post('/auth/check-email-change', {
      config: { permission: 'public' },
      schema: {
        operationId: 'checkEmailChange',
        summary: 'Check a link to confirm an email address',
        description:
          'Returns 404 if the link was used or replaced, has expired, or never existed. Does not use up the link.',
        errors: { not_found: 'The link was used or replaced, or has expired.' },
        body: LinkBody,
        response: answers(
          Named('EmailChange', { old_email: Type.String(), new_email: Type.String(), expires_at: Timestamp }),
        ),
      },
      handler: async (request) => {
        const { oldEmail, newEmail, expiresAt } = await getEmailChange(db, request.body.token)
        return ok({ old_email: oldEmail, new_email: newEmail, expires_at: expiresAt.toISOString() })
      },
    })

    api.post('/auth/confirm-email-change', {
      config: { permission: 'public' },
      schema: {
        operationId: 'confirmEmailChange',
        summary: 'Confirm a new email address',
        description:
          'The link can be used once. The old address receives a notice, and password reset links that were sent to it become invalid. Sessions stay valid. Sign in with the new address from now on.',
        errors: {
          not_found: 'The link was used or replaced, or has expired.',
          conflict: 'Another account uses the address now.',
        },
        body: LinkBody,
        response: answers(Named('ConfirmedEmail', { email: Type.String() })),
      },
      handler: async (request) =>
        ok({ email: await confirmEmailChange(parts, request.body.token) }, 'Email address changed'),
    })
  }
}

/** The same for addresses with and without an account. */
const resetMessages: Record<EmailPath | 'depends', string> = {
  sending: 'If this address has an account, an email with a link is on its way',
  waiting: 'If this address has an account, an email with a link is sent as soon as the mail server accepts it',
  not_sent: 'If this address has an account, its owners find an email with a link in the built-in inbox',
  depends:
    'If this address has an account, an email with a link is sent through the mail server of its organization, or kept in the built-in inbox, where owners can read it',
}
