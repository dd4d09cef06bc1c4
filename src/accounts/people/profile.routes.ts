import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { answers, IdParams, Named, Nothing, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { emailPaths } from '../../platform/values/email-path.ts'
import { notFound } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type Member, updateProfile } from './accounts.sql.ts'
import { changePassword } from './accounts.ts'
import { type AlertSwitches, alertsOf, mutedAfter } from './alerts.ts'
import { endAllSessions } from './credentials.sql.ts'
import { deviceName } from './device-name.ts'
import { deleteEmailChange, findPendingEmail, type PendingEmail } from './email-changes.sql.ts'
import { type EmailChangeParts, requestEmailChange } from './email-changes.ts'
import { memberOf } from './guards.ts'
import { permissions, permissionsOf, personMay } from './permissions.ts'
import { deleteSession, type SessionRow, selectSessions } from './sessions.sql.ts'
import type { Sessions } from './sessions.ts'
import {
  Credential,
  NewPassword,
  nameMax,
  OrganizationOut,
  organizationOut,
  RoleOut,
  SessionOut,
  UserOut,
  userOut,
} from './shapes.ts'
import { sessionsPerUserMax, startSession } from './start-session.ts'

export type ProfileParts = EmailChangeParts & {
  sessions: Sessions
  /** Whether emails of an organization leave the service. */
  transportOf: (organizationId: OrganizationId) => Promise<'inbox' | 'smtp'>
}

const PendingEmailOut = Nullable(
  Named(
    'PendingEmail',
    { email: Type.String(), expires_at: Timestamp },
    { description: 'The new address, until it is confirmed by the link that was sent to it.' },
  ),
)
const alertFields = {
  sending: Type.Boolean({ description: 'The mail server is unreachable.' }),
  deliverability: Type.Boolean({ description: 'High bounce or complaint rate.' }),
  webhooks: Type.Boolean({ description: 'A webhook fails or was paused.' }),
  imports: Type.Boolean({ description: 'An import has finished or failed.' }),
} satisfies Record<keyof AlertSwitches, unknown>
const MeOut = Named('Me', {
  user: UserOut,
  organization: OrganizationOut,
  role: RoleOut,
  permissions: Type.Array(oneOf(...permissions), { description: 'What you may do: `x-permission` of the operations.' }),
  operator: Type.Boolean({ description: 'Whether you can see and check the settings of the mail server.' }),
  mail: Type.Object({
    transport: { ...oneOf('inbox', 'smtp'), description: 'Where emails of the organization go.' },
    account_emails: {
      ...oneOf(...emailPaths),
      description:
        'What happens to emails with links that sign in, such as password resets and invitations: they are sent, wait because no mail server accepts email, or are kept in the built-in inbox. They leave through the mail servers of the installation, else through those of the organization with `sends_account_emails`.',
    },
    alerts: { ...oneOf(...emailPaths), description: 'What happens to alerts by email.' },
  }),
  alerts: Named('Alerts', alertFields, { description: 'The alerts that you receive by email.' }),
  pending_email: PendingEmailOut,
})
const SignedInOut = Named('Session', {
  id: Type.String(),
  current: Type.Boolean({ description: 'Whether this request uses the session.' }),
  device: Type.String({ description: 'Browser and operating system, from the User-Agent header.' }),
  user_agent: Type.String(),
  ip_address: Type.String({ description: 'The client address at sign-in.' }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
})

/** Routes for the signed-in user: profile, email address, password and sessions. */
export function profileRoutes(parts: ProfileParts): FastifyPluginAsyncTypebox {
  const { db, throttle, accountEmails } = parts
  const meOut = async (member: Member) => ({
    user: userOut(member),
    organization: organizationOut(member.organization),
    role: member.role,
    permissions: permissionsOf(member),
    operator: personMay(member, 'installation:read'),
    mail: {
      transport: await parts.transportOf(member.organizationId),
      account_emails: await accountEmails.pathOf(member.organizationId, { isPrivate: true }),
      alerts: await accountEmails.pathOf(member.organizationId, { isPrivate: false }),
    },
    alerts: alertsOf(member),
    pending_email: pendingOut(await findPendingEmail(db, member)),
  })

  return async (api) => {
    tagRoutes(api, 'Accounts')
    api.get('/me', {
      config: { permission: 'profile:read' },
      schema: {
        operationId: 'getMe',
        summary: 'Get the signed-in user',
        description:
          'Returns the user, the organization and the role that belong to the session, the alerts that the user receives, and an email address that is not confirmed yet.',
        response: answers(MeOut),
      },
      handler: async (request) => ok(await meOut(memberOf(request))),
    })

    api.patch('/me', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'updateMe',
        summary: 'Update your profile',
        description:
          'Fields that are omitted keep their value. The name is shown to the team and in invitations. Alerts are sent to owners; that an import has finished, to the user who started it.',
        body: Type.Object({
          name: Type.Optional(Nullable(Type.String({ maxLength: nameMax, description: 'Your name.' }))),
          alerts: Type.Optional(
            Type.Object({
              sending: Type.Optional(alertFields.sending),
              deliverability: Type.Optional(alertFields.deliverability),
              webhooks: Type.Optional(alertFields.webhooks),
              imports: Type.Optional(alertFields.imports),
            }),
          ),
        }),
        response: answers(MeOut),
      },
      handler: async (request) => {
        const member = memberOf(request)
        const { name, alerts } = request.body
        const change = {
          name: name === undefined ? undefined : name?.trim() || null,
          mutedAlerts: alerts && mutedAfter(member.mutedAlerts, alerts),
        }
        await updateProfile(db.statement, member, change)
        const changed = {
          ...member,
          name: change.name === undefined ? member.name : change.name,
          mutedAlerts: change.mutedAlerts ?? member.mutedAlerts,
        }
        return ok(await meOut(changed))
      },
    })

    api.post('/me/email', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'changeEmail',
        summary: 'Change the email address',
        description:
          'Sends a link to the new address, valid for an hour. The old address stays in use until the link is used, and is notified then. At most 5 requests per hour. A new request replaces an earlier one. The response is the same if the address belongs to another account; its user gets an email without a link.',
        errors: {
          validation_failed: 'The current password is incorrect, or the address is not valid.',
          rate_limited: 'There were more than 5 requests in an hour.',
        },
        body: Type.Object({ email: Credential, current_password: Credential }),
        response: answers(PendingEmailOut),
      },
      handler: async (request) => {
        const { email, current_password: currentPassword } = request.body
        const change = { email, currentPassword, address: request.ip }
        return ok(pendingOut(await requestEmailChange(parts, memberOf(request), change)), 'Confirm the new address')
      },
    })

    api.delete('/me/email', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'cancelEmailChange',
        summary: 'Cancel the change of the email address',
        description:
          'The link that was sent to the new address becomes invalid. Has no effect if no change is pending.',
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deleteEmailChange(db.statement, memberOf(request))
        return ok(null, 'Change cancelled')
      },
    })

    api.post('/me/password', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'changePassword',
        summary: 'Change the password',
        description:
          'Ends all sessions of this account and returns a new one. The new password has 10 to 256 characters. Failed attempts count like failed sign-ins.',
        errors: {
          validation_failed: 'The current password is incorrect, or the new one is too short or easy to guess.',
        },
        body: Type.Object({ current_password: Credential, new_password: NewPassword }),
        response: answers(SessionOut),
      },
      handler: async (request) => {
        const { current_password: currentPassword, new_password: newPassword } = request.body
        const change = { currentPassword, newPassword, address: request.ip }
        const account = await changePassword({ db, throttle, accountEmails }, memberOf(request), change)
        return ok(await startSession(parts, account, request), 'Password changed')
      },
    })

    api.get('/me/sessions', {
      config: { permission: 'profile:read' },
      schema: {
        operationId: 'listSessions',
        summary: 'List your sessions',
        description:
          'The last used first. The time of the last use is accurate to 5 minutes. A user has at most 50 sessions; a further sign-in ends the oldest one.',
        response: answers(Type.Array(SignedInOut)),
      },
      handler: async (request) => {
        const member = memberOf(request)
        const rows = await selectSessions(db, member, sessionsPerUserMax)
        return ok(rows.map((row) => signedInOut({ ...row, current: row.id === member.session?.id })))
      },
    })

    api.delete('/me/sessions/:id', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'endSession',
        summary: 'End a session',
        description: 'Signs out one device. Requests with the token of the session are rejected from now on.',
        errors: { not_found: 'You have no such session, or it has expired.' },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        const id = parseIdParam('ses', request.params.id)
        if (!(await deleteSession(db.statement, memberOf(request), id))) throw notFound('session')
        return ok(null, 'Session ended')
      },
    })

    api.post('/me/sign-out', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'signOut',
        summary: 'Sign out',
        description:
          'Ends the current session. The token of this request is rejected from now on. Other sessions of the account stay valid.',
        response: answers(Nothing),
      },
      handler: async (request) => {
        const member = memberOf(request)
        if (member.session) await deleteSession(db.statement, member, member.session.id)
        return ok(null, 'Signed out')
      },
    })

    api.post('/me/sign-out-everywhere', {
      config: { permission: 'profile:write' },
      schema: {
        operationId: 'signOutEverywhere',
        summary: 'Sign out everywhere',
        description:
          'Ends all sessions of this account, including the current one. Use it after a device was lost. Sign in again to get a new session.',
        response: answers(Nothing),
      },
      handler: async (request) => {
        await db.begin((tx) => endAllSessions(tx, memberOf(request)))
        return ok(null, 'You are signed out everywhere')
      },
    })
  }
}

const pendingOut = (pending: PendingEmail | undefined) =>
  pending ? { email: pending.email, expires_at: pending.expiresAt.toISOString() } : null

const signedInOut = outOf(SignedInOut, { id: 'ses' }, { device: ({ userAgent }: SessionRow) => deviceName(userAgent) })
