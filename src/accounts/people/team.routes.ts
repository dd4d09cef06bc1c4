import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nothing, Nullable, ok, Timestamp } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import { memberOf, targetOf } from './guards.ts'
import type { KeyCache } from './key-cache.ts'
import { RoleOut, UserOut, userOut } from './shapes.ts'
import { selectTeam, type TeamMember } from './team.sql.ts'
import { changeRole, removeMember } from './team.ts'

const MemberOut = Named('Member', { ...UserOut.properties, last_login_at: Nullable(Timestamp) })

export type TeamParts = {
  db: Db
  read: BoundedRead
  keys: KeyCache
  /** Pauses the webhooks of a member in the given transaction; the returned function runs after the commit. */
  pauseWebhooksOf: (tx: Tx, organizationId: OrganizationId, userId: UserId) => Promise<void>
}

export function teamRoutes({ db, read, keys, pauseWebhooksOf }: TeamParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Team')
    api.get('/members', {
      config: { permission: 'team:read' },
      schema: {
        operationId: 'listMembers',
        summary: 'List members',
        description: 'An organization has at most 500 members.',
        response: answers(Type.Array(MemberOut)),
      },
      handler: async (request) => ok((await read(memberOf(request).organizationId, selectTeam)).map(memberOut)),
    })

    api.patch('/members/:id', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'updateMember',
        summary: 'Change the role or the permissions of a member',
        description:
          'Owners only. Owners can change everything in the organization; members everything except the team and the organization itself.',
        errors: { conflict: 'The member is the last owner.' },
        params: IdParams,
        body: Type.Object({
          role: Type.Optional({ ...RoleOut, description: 'The new role.' }),
          can_start_broadcasts: Type.Optional(Type.Boolean()),
        }),
        response: answers(MemberOut),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'usr')
        const { role, can_start_broadcasts: mayBroadcast } = request.body
        const member = await changeRole(db, organizationId, id, { role, mayBroadcast })
        keys.forgetOrganization(organizationId)
        return ok(memberOut(member))
      },
    })

    api.delete('/members/:id', {
      config: { permission: 'team:write' },
      schema: {
        operationId: 'removeMember',
        summary: 'Remove a member',
        description:
          'Owners only. Ends the sessions of the member and withdraws their pending invitations. API keys and webhooks that they created keep working unless requested otherwise, but the keys can no longer start broadcasts.',
        errors: { conflict: 'The member is the last owner.' },
        params: IdParams,
        querystring: Type.Object({
          revoke_api_keys: Type.Optional(
            Type.Boolean({ description: 'Also revoke the API keys that the member created.' }),
          ),
          pause_webhooks: Type.Optional(
            Type.Boolean({ description: 'Also pause the webhooks that the member created.' }),
          ),
        }),
        response: answers(Nothing),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'usr')
        const { revoke_api_keys: revokeKeys, pause_webhooks: pauseWebhooks } = request.query
        await removeMember(db, organizationId, id, {
          revokeApiKeys: revokeKeys ?? false,
          onRemove: async (tx) => {
            if (pauseWebhooks) await pauseWebhooksOf(tx, organizationId, id)
          },
        })
        keys.forgetOrganization(organizationId)
        return ok(null, 'Member removed')
      },
    })
  }
}

const memberOut = (member: TeamMember) => ({
  ...userOut(member),
  last_login_at: member.lastLoginAt?.toISOString() ?? null,
})
