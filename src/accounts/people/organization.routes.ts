import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, Named, Nullable, ok } from '../../platform/http/envelope.ts'
import { checkIfMatch, editedSince, etagOf } from '../../platform/http/etag.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { invalid } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { getOrganization, type Organization, type OrganizationChange, updateOrganization } from './accounts.sql.ts'
import { checkTimeZone } from './accounts.ts'
import type { DefaultSender } from './default-sender.sql.ts'
import { memberOf } from './guards.ts'
import { nameMax, OrganizationOut, organizationNameMax, organizationOut } from './shapes.ts'

const timezoneMax = 64
const DetailsOut = Named('OrganizationDetails', {
  ...OrganizationOut.properties,
  event_retention_months: Nullable(
    Type.Integer({
      description: 'How many months events are kept, as the operator has set it. Null: indefinitely.',
    }),
  ),
})

export type OrganizationRouteParts = {
  db: Db
  /** Throws `Refusal` if the organization may not send from the address. */
  checkSender: (organizationId: OrganizationId, address: string) => Promise<void>
  onChanged: (id: OrganizationId) => void
  eventRetentionMonths: number
}

export function organizationRoutes({
  db,
  checkSender,
  onChanged,
  eventRetentionMonths,
}: OrganizationRouteParts): FastifyPluginAsyncTypebox {
  const detailsOf = (organization: Organization) => ({
    ...organizationOut(organization),
    event_retention_months: eventRetentionMonths || null,
  })
  return async (api) => {
    tagRoutes(api, 'Organization')
    api.get('', {
      config: { permission: 'organization:read' },
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the organization',
        description:
          'Returns the name, the time zone, the default sender and the privacy settings of the organization.',
        response: answers(DetailsOut),
      },
      handler: async (request, reply) => {
        const { organization } = memberOf(request)
        reply.header('etag', tagOf(organization))
        return ok(detailsOf(organization))
      },
    })

    api.patch('', {
      config: { permission: 'organization:write' },
      schema: {
        operationId: 'updateOrganization',
        summary: 'Update the organization',
        description:
          'Owners only. Omitted fields keep their value. `timezone` is the default time zone of reports. `keep_addresses` stores the IP addresses of opens and clicks; it is off by default. `default_sender` is the sender of emails whose flow has none; null: that of the installation.',
        errors: {
          precondition_failed: editedSince,
          sender_not_verified: 'The default sender is not in a verified domain, and this installation requires one.',
        },
        body: Type.Object({
          name: Type.Optional(Type.String({ minLength: 1, maxLength: organizationNameMax })),
          timezone: Type.Optional(
            Type.String({ maxLength: timezoneMax, description: 'IANA time zone, such as Europe/Vienna.' }),
          ),
          keep_addresses: Type.Optional(Type.Boolean()),
          default_sender: Type.Optional(
            Nullable(
              Type.Object(
                { name: Type.Optional(Nullable(Type.String({ maxLength: nameMax }))), email: Type.String() },
                { description: 'The sender of emails whose flow has none. Null: that of the installation.' },
              ),
            ),
          ),
        }),
        response: answers(DetailsOut),
      },
      handler: async (request, reply) => {
        const { name, timezone, keep_addresses: keepAddresses, default_sender: sender } = request.body
        const defaultSender = sender && parseSender(sender)
        const change = checkChange({ name: name?.trim(), timezone, keepAddresses, defaultSender })
        const { organizationId } = memberOf(request)
        if (defaultSender) await checkSender(organizationId, defaultSender.email)
        const checkUnchanged = checkIfMatch(request, tagOf)
        const changed = await db.begin(async (tx) => {
          await lockOrganization(tx, organizationId)
          const current = await getOrganization(tx, organizationId)
          checkUnchanged?.(current)
          await updateOrganization(tx, organizationId, change)
          return getOrganization(tx, organizationId)
        })
        onChanged(changed.id)
        reply.header('etag', tagOf(changed))
        return ok(detailsOf(changed))
      },
    })
  }
}

const tagOf = ({ name, timezone, keepAddresses, defaultSender }: Organization) =>
  etagOf(name, timezone, keepAddresses, defaultSender?.name, defaultSender?.email)

const parseSender = ({ name, email }: { name?: string | null; email: string }): DefaultSender => ({
  name: name?.trim() || null,
  email: parseEmailField('default_sender.email', email).email,
})

function checkChange(change: OrganizationChange): OrganizationChange {
  if (change.name === '') throw invalid({ path: 'name', problem: 'must not be empty' })
  checkTimeZone(change.timezone)
  return change
}
