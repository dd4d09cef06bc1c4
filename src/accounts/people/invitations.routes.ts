import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  Nullable,
  ok,
  oneOf,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { emailPaths } from '../../platform/values/email-path.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { acceptInvitation, acceptWithAccount } from './accept-invitation.ts'
import { memberOf, targetOf } from './guards.ts'
import { selectInvitations } from './invitations.sql.ts'
import {
  getInvitation,
  type InvitationParts,
  invite,
  resendInvitation,
  type WrittenInvitation,
  withdrawInvitation,
} from './invitations.ts'
import { linkTokenMax } from './link-tokens.ts'
import { Credential, nameMax, RoleOut, SessionOut } from './shapes.ts'
import { type SessionParts, startSession } from './start-session.ts'
import type { LoginThrottle } from './throttle.ts'

const InvitationOut = Named('Invitation', {
  id: Type.String(),
  email: Nullable(Type.String()),
  role: RoleOut,
  created_at: Timestamp,
  expires_at: Timestamp,
  sent_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the link was last sent by email. Null if it was not.' }),
  ),
})

const CreatedInvitationOut = Named('CreatedInvitation', {
  ...InvitationOut.properties,
  token: Type.String(),
  url: Type.String({ format: 'uri' }),
  email_status: Nullable({
    ...oneOf(...emailPaths),
    description:
      'What happens to the email: it is on its way, waits until a mail server accepts it, or was not sent, because no mail server may carry it. Then it is in the built-in inbox; send `url` to the person yourself. Null if there is no email.',
  }),
})

/** Routes with which owners manage invitations. */
type InvitationRouteParts = InvitationParts & { read: BoundedRead; baseUrl: () => string }

export function invitationRoutes(parts: InvitationRouteParts): FastifyPluginAsyncTypebox {
  const { db, read, baseUrl } = parts
  const createdOut = ({ invitation, token, path }: WrittenInvitation) => ({
    ...invitationOut(invitation),
    token,
    url: `${baseUrl()}/invitation/${token}`,
    email_status: path,
  })
  return async (api) => {
    tagRoutes(api, 'Team')
    api.get('/invitations', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'listInvitations',
        summary: 'List pending invitations',
        description: 'Owners only. Accepted and expired invitations are not included.',
        response: answers(Type.Array(InvitationOut)),
      },
      handler: async (request) =>
        ok((await read(memberOf(request).organizationId, selectInvitations)).map(invitationOut)),
    })

    api.post('/invitations', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'createInvitation',
        summary: 'Create an invitation',
        description:
          'Owners only. An invitation with an address is sent by email, at most 30 per hour. `token` and `url` are only returned in this response. An invitation with an `email` is sent to it, if `email_status` says so; otherwise, or with `send_email: false`, send `url` to the person you invite. An invitation is valid for seven days and can be used once. Without an `email`, anyone with the link can use it, and `role` must be `member`.',
        errors: {
          conflict: 'A member with this address already exists, or 100 invitations are pending.',
          rate_limited: 'The organization sent 30 invitations by email within an hour.',
        },
        body: Type.Object({
          email: Type.Optional(
            Nullable(
              Type.String({
                format: 'email',
                maxLength: 1024,
                description: 'If omitted, anyone with the link can use it once, as a member.',
              }),
            ),
          ),
          role: RoleOut,
          send_email: Type.Optional(Type.Boolean({ default: true, description: 'If false, share the link yourself.' })),
        }),
        response: creates(CreatedInvitationOut),
      },
      handler: async (request, reply) => {
        const { email, role, send_email: sendEmail = true } = request.body
        const draft = { email: email ?? undefined, role, sendEmail }
        return reply.status(201).send(created(createdOut(await invite(parts, memberOf(request), draft))))
      },
    })

    api.post('/invitations/:id/resend', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'resendInvitation',
        summary: 'Send an invitation again',
        description:
          'Owners only. Sends a new link, which is valid for 7 days; the earlier link becomes invalid. `token` and `url` are only returned in this response. At most once a minute and 5 times per invitation.',
        errors: {
          not_found: 'The invitation was used, withdrawn or has expired.',
          conflict: 'The invitation has no address, or was sent 5 times.',
          rate_limited: 'The invitation was sent less than a minute ago.',
        },
        params: IdParams,
        response: answers(CreatedInvitationOut),
      },
      handler: async (request) => {
        const id = parseIdParam('inv', request.params.id)
        const written = await resendInvitation(parts, memberOf(request), id)
        return ok(createdOut(written), written.path === 'not_sent' ? 'Invitation renewed' : 'Invitation sent')
      },
    })

    api.delete('/invitations/:id', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'deleteInvitation',
        summary: 'Withdraw an invitation',
        description: 'Owners only. The link of a withdrawn invitation stops working immediately.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await withdrawInvitation(db, ...targetOf(request, 'inv'))
        return ok(null, 'Invitation withdrawn')
      },
    })
  }
}

/** Routes without a credential: the token in the link authorizes them. */
type AcceptanceParts = SessionParts & { db: Db; throttle: LoginThrottle }

export function acceptanceRoutes(parts: AcceptanceParts): FastifyPluginAsyncTypebox {
  const { db } = parts
  return async (api) => {
    tagRoutes(api, 'Team')
    api.get('/auth/invitations/:token', {
      config: { permission: 'public' },
      schema: {
        operationId: 'getInvitation',
        summary: 'Get an invitation',
        description: 'Shows who invited to what before it is accepted. The token in the link is the credential.',
        errors: { not_found: 'The invitation was used, withdrawn or has expired.' },
        params: Type.Object({ token: Type.String() }),
        response: answers(
          Named('InvitationPreview', {
            organization_name: Type.String(),
            email: Nullable(Type.String()),
            role: RoleOut,
            expires_at: Timestamp,
          }),
        ),
      },
      handler: async (request) => {
        const { organizationName, email, role, expiresAt } = await getInvitation(db, request.params.token)
        return ok({ organization_name: organizationName, email, role, expires_at: expiresAt.toISOString() })
      },
    })

    api.post('/auth/accept-invitation', {
      config: { permission: 'public' },
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation',
        description:
          'Creates an account, or moves an existing one to the organization of the invitation. Works while registration is closed. The link can be used once. Creates the account and returns its first session. If the invitation names an address, `email` can be omitted; otherwise it is required.',
        errors: {
          not_found: 'The invitation was used, withdrawn or has expired.',
          unauthorized: 'With `existing_account`: the email address or the password is incorrect.',
          conflict:
            'An account with this address already exists, it is the only owner of its organization, or the organization has 500 members.',
        },
        body: Type.Object({
          token: Type.String({ maxLength: linkTokenMax }),
          email: Type.Optional(Nullable(Type.String({ maxLength: 1024 }))),
          name: Type.Optional(Nullable(Type.String({ maxLength: nameMax, description: 'The name of the person.' }))),
          password: Credential,
          existing_account: Type.Optional(
            Type.Boolean({
              default: false,
              description:
                'Sign in with the password of an existing account. An account belongs to one organization: it leaves the current one, which must have another owner.',
            }),
          ),
        }),
        response: creates(SessionOut),
      },
      handler: async (request, reply) => {
        const { token, password, name, existing_account: exists } = request.body
        const email = request.body.email ?? undefined
        const user = exists
          ? await acceptWithAccount(parts, { token, email, password, address: request.ip })
          : await acceptInvitation(db, { token, email, name: name?.trim() || null, password })
        return reply.status(201).send(created(await startSession(parts, user, request), 'Welcome'))
      },
    })
  }
}

const invitationOut = outOf(InvitationOut, { id: 'inv' })
