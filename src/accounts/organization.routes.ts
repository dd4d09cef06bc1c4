import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { answers, Named, Nullable, ok } from '../http/envelope.ts'
import { checkIfMatch, editedSince, etagOf } from '../http/etag.ts'
import { tagRoutes } from '../http/tags.ts'
import { invalid } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import {
  findOrganizationForUpdate,
  type Organization,
  type OrganizationChange,
  updateOrganization,
} from './accounts.sql.ts'
import { checkTimeZone } from './accounts.ts'
import { memberOf, requireOwner } from './guards.ts'
import { OrganizationOut, organizationNameMax, organizationOut } from './shapes.ts'

const timezoneMax = 64
const DetailsOut = Named('OrganizationDetails', {
  ...OrganizationOut.properties,
  event_retention_months: Nullable(
    Type.Integer({
      description: 'How many months events are kept, as the operator has set it. Null: indefinitely.',
    }),
  ),
})

type Parts = { db: Db; onChanged: (id: OrganizationId) => void; eventRetentionMonths: number }

export function organizationRoutes({ db, onChanged, eventRetentionMonths }: Parts): FastifyPluginAsyncTypebox {
  const detailsOf = (organization: Organization) => ({
    ...organizationOut(organization),
    event_retention_months: eventRetentionMonths || null,
  })
  return async (api) => {
    tagRoutes(api, 'Organization')
    api.get('', {
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the organization',
        description: 'Returns the name, the time zone and the privacy settings of the organization.',
        response: answers(DetailsOut),
      },
      handler: async (request, reply) => {
        const { organization } = memberOf(request)
        reply.header('etag', tagOf(organization))
        return ok(detailsOf(organization))
      },
    })

    api.patch('', {
      onRequest: requireOwner,
      schema: {
        operationId: 'updateOrganization',
        summary: 'Update the organization',
        description:
          'Owners only. Omitted fields keep their value. `timezone` is the default time zone of reports. `keep_addresses` stores the IP addresses of opens and clicks; it is off by default.',
        errors: { precondition_failed: editedSince },
        body: Type.Object({
          name: Type.Optional(Type.String({ minLength: 1, maxLength: organizationNameMax })),
          timezone: Type.Optional(
            Type.String({ maxLength: timezoneMax, description: 'IANA time zone, such as Europe/Vienna.' }),
          ),
          keep_addresses: Type.Optional(Type.Boolean()),
        }),
        response: answers(DetailsOut),
      },
      handler: async (request, reply) => {
        const { name, timezone, keep_addresses: keepAddresses } = request.body
        const change = checkChange({ name: name?.trim(), timezone, keepAddresses })
        const { organizationId } = memberOf(request)
        const checkUnchanged = checkIfMatch(request, tagOf)
        const changed = await db.begin(async (tx) => {
          const current = await findOrganizationForUpdate(tx, organizationId)
          if (current) checkUnchanged?.(current)
          return updateOrganization(tx, organizationId, change)
        })
        onChanged(changed.id)
        reply.header('etag', tagOf(changed))
        return ok(detailsOf(changed))
      },
    })
  }
}

const tagOf = ({ name, timezone, keepAddresses }: Organization) => etagOf(name, timezone, keepAddresses)

function checkChange(change: OrganizationChange): OrganizationChange {
  if (change.name === '') throw invalid({ path: 'name', problem: 'must not be empty' })
  checkTimeZone(change.timezone)
  return change
}
