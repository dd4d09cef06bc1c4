import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Db } from '../db/db.ts'
import { invalid } from '../errors.ts'
import { answers, Nothing, Nullable, ok } from '../http/envelope.ts'
import type { OrganizationId } from '../ids.ts'
import { type OrganizationChange, updateOrganization } from './accounts.sql.ts'
import { deleteOrganization } from './delete-organization.ts'
import { memberOf, requireOwner } from './guards.ts'
import type { KeyCache } from './key-cache.ts'
import { OrganizationOut, organizationNameMax, organizationOut } from './shapes.ts'
import type { LoginThrottle } from './throttle.ts'

const timezoneMax = 64
const tags = ['Organization']

type Parts = { db: Db; keys: KeyCache; throttle: LoginThrottle; onChanged: (id: OrganizationId) => void }

export function organizationRoutes({ db, keys, throttle, onChanged }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get(
      '',
      { schema: { tags, summary: 'Read the organization', response: answers(OrganizationOut) } },
      async (request) => ok(organizationOut(memberOf(request).organization)),
    )

    api.patch(
      '',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'Change the organization (owners)',
          body: Type.Object({
            name: Type.Optional(Type.String({ minLength: 1, maxLength: organizationNameMax })),
            timezone: Type.Optional(Type.String({ maxLength: timezoneMax, description: 'IANA, as Europe/Vienna.' })),
            keep_addresses: Type.Optional(Type.Boolean()),
            retention_days: Type.Optional(Nullable(Type.Integer())),
          }),
          response: answers(OrganizationOut),
        },
      },
      async (request) => {
        const { name, timezone, keep_addresses: keepAddresses, retention_days: retentionDays } = request.body
        if (typeof retentionDays === 'number')
          throw invalid({
            path: 'retention_days',
            problem: 'cannot be set for one organization: EVENT_RETENTION_MONTHS sets it for the whole service',
          })
        const change = checkChange({ name: name?.trim(), timezone, keepAddresses })
        const changed = await updateOrganization(db.alone, memberOf(request).organizationId, change)
        onChanged(changed.id)
        return ok(organizationOut(changed))
      },
    )

    api.delete(
      '',
      {
        onRequest: requireOwner,
        schema: {
          tags,
          summary: 'Delete the organization and all of its data (owners)',
          description:
            'Signs everybody out, revokes all API keys and stops sending, tracking and webhooks at once. All data is erased in the background and cannot be restored.',
          body: Type.Object({
            name: Type.String({ maxLength: organizationNameMax, description: 'The exact name of the organization.' }),
            password: Type.String({ minLength: 1, maxLength: 1024, description: 'Your own password.' }),
          }),
          response: answers(Nothing),
        },
      },
      async (request) => {
        const { name, password } = request.body
        const deletion = { name, password, address: request.ip }
        for (const key of await deleteOrganization(db, throttle, memberOf(request), deletion)) keys.forget(key)
        return ok(null, 'The organization is deleted. Its data is being erased.')
      },
    )
  }
}

function checkChange(change: OrganizationChange): OrganizationChange {
  if (change.name === '') throw invalid({ path: 'name', problem: 'must not be empty' })
  if (change.timezone !== undefined && !isTimeZone(change.timezone))
    throw invalid({ path: 'timezone', problem: 'must be a time zone such as Europe/Vienna or UTC' })
  return change
}

/** Names only: an offset such as +01:00 would be right for half of the year. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
