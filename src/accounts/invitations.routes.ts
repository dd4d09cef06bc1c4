import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { BoundedRead } from '../db/bounded-read.ts'
import type { Db } from '../db/db.ts'
import { answers, created, creates, Nothing, Nullable, ok, Timestamp } from '../http/envelope.ts'
import { parseIdParam } from '../values/id-params.ts'
import { toText } from '../values/ids.ts'
import { memberOf, requireOwner } from './guards.ts'
import { type Invitation, selectInvitations } from './invitations.sql.ts'
import { acceptInvitation, getInvitation, invite, withdrawInvitation } from './invitations.ts'
import type { Sessions } from './sessions.ts'
import { Credential, RoleOut, SessionOut, sessionOut } from './shapes.ts'

const InvitationOut = Type.Object({
  id: Type.String(),
  email: Nullable(Type.String()),
  role: RoleOut,
  created_at: Timestamp,
  expires_at: Timestamp,
})
const tokenMax = 200
const tags = ['Team']

/** Routes with which owners manage invitations. */
type InvitationRouteParts = { db: Db; read: BoundedRead; baseUrl: string }

export function invitationRoutes({ db, read, baseUrl }: InvitationRouteParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/invitations',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'List pending invitations',
          description: 'Owners only.',
          response: answers(Type.Array(InvitationOut)),
        },
      },
      async (request) => {
        const { organizationId } = memberOf(request)
        return ok((await read(organizationId, (tx) => selectInvitations(tx, organizationId))).map(invitationOut))
      },
    )

    api.post(
      '/invitations',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'Create an invitation',
          description: 'Owners only. `token` and `url` are only returned in this response.',
          body: Type.Object({
            email: Type.Optional(
              Nullable(
                Type.String({
                  maxLength: 1024,
                  description: 'If omitted, anyone with the link can use it once, as a member.',
                }),
              ),
            ),
            role: RoleOut,
          }),
          response: creates(
            Type.Object({ ...InvitationOut.properties, token: Type.String(), url: Type.String({ format: 'uri' }) }),
          ),
        },
      },
      async (request, reply) => {
        const { email, role } = request.body
        const { invitation, token } = await invite(db, memberOf(request), { email: email ?? undefined, role })
        const url = `${baseUrl}/invitation/${token}`
        return reply.status(201).send(created({ ...invitationOut(invitation), token, url }))
      },
    )

    api.delete(
      '/invitations/:id',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'Withdraw an invitation',
          description: 'Owners only.',
          params: Type.Object({ id: Type.String() }),
          response: answers(Nothing),
        },
      },
      async (request) => {
        const id = parseIdParam('inv', request.params.id)
        await withdrawInvitation(db, memberOf(request).organizationId, id)
        return ok(null, 'Invitation withdrawn')
      },
    )
  }
}

/** Routes without a credential: the token in the link authorizes them. */
export function acceptanceRoutes({ db, sessions }: { db: Db; sessions: Sessions }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/auth/invitations/:token',
      {
        schema: {
          tags,
          summary: 'Get an invitation',
          params: Type.Object({ token: Type.String() }),
          response: answers(
            Type.Object({
              organization_name: Type.String(),
              email: Nullable(Type.String()),
              role: RoleOut,
              expires_at: Timestamp,
            }),
          ),
        },
      },
      async (request) => {
        const { organizationName, email, role, expiresAt } = await getInvitation(db, request.params.token)
        return ok({ organization_name: organizationName, email, role, expires_at: expiresAt.toISOString() })
      },
    )

    api.post(
      '/auth/accept-invitation',
      {
        schema: {
          tags,
          summary: 'Accept an invitation',
          body: Type.Object({
            token: Type.String({ maxLength: tokenMax }),
            email: Type.Optional(Nullable(Type.String({ maxLength: 1024 }))),
            password: Credential,
          }),
          response: creates(SessionOut),
        },
      },
      async (request, reply) => {
        const { token, email, password } = request.body
        const user = await acceptInvitation(db, { token, email: email ?? undefined, password })
        return reply.status(201).send(created(await sessionOut(sessions, user), 'Welcome'))
      },
    )
  }
}

const invitationOut = (invitation: Invitation) => ({
  id: toText('inv', invitation.id),
  email: invitation.email,
  role: invitation.role,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString(),
})
