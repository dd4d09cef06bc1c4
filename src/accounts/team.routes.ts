import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Db } from '../db/db.ts'
import { answers, Nothing, Nullable, ok, Timestamp } from '../http/envelope.ts'
import { parseId, type UserId } from '../ids.ts'
import { memberOf, requireOwner } from './guards.ts'
import { RoleOut, UserOut, userOut } from './shapes.ts'
import { selectTeam, type TeamMember } from './team.sql.ts'
import { changeRole, noSuchMember, removeMember } from './team.ts'

const MemberOut = Type.Object({ ...UserOut.properties, last_login_at: Nullable(Timestamp) })
const IdParams = Type.Object({ id: Type.String() })
const tags = ['Team']

export function teamRoutes({ db }: { db: Db }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '/members',
      { schema: { tags, summary: 'List the people of the organization', response: answers(Type.Array(MemberOut)) } },
      async (request) => ok((await selectTeam(db, memberOf(request).organizationId)).map(memberOut)),
    )

    api.patch(
      '/members/:id',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'Change somebody’s role (owners)',
          params: IdParams,
          body: Type.Object({ role: RoleOut }),
          response: answers(MemberOut),
        },
      },
      async (request) => {
        const id = userIdOf(request.params.id)
        return ok(memberOut(await changeRole(db, memberOf(request).organizationId, id, request.body.role)))
      },
    )

    api.delete(
      '/members/:id',
      {
        onRequest: requireOwner,
        schema: { tags, summary: 'Remove somebody (owners)', params: IdParams, response: answers(Nothing) },
      },
      async (request) => {
        await removeMember(db, memberOf(request).organizationId, userIdOf(request.params.id))
        return ok(null, 'The member is removed')
      },
    )
  }
}

function userIdOf(text: string): UserId {
  const id = parseId('usr', text)
  if (!id) throw noSuchMember()
  return id
}

const memberOut = (member: TeamMember) => ({
  ...userOut(member),
  last_login_at: member.lastLoginAt?.toISOString() ?? null,
})
