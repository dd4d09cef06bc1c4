import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  type KeyCache,
  type LoginThrottle,
  memberOf,
  organizationIdOf,
  organizationNameMax,
  targetOf,
} from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, Nothing, ok } from '../../platform/http/envelope.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { deleteOrganization } from './delete-organization.ts'
import { eraseContact } from './erase-contact.ts'
import { ContactExport } from './export-contact.shapes.ts'
import { exportContact } from './export-contact.ts'

type Parts = { db: Db; read: BoundedRead; keys: KeyCache; throttle: LoginThrottle }

/** Export and erasure of contacts, and deletion of organizations. */
export function privacyRoutes({ db, read, keys, throttle }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.delete('/contacts/:id', {
      config: { permission: 'contacts:write' },
      schema: {
        tags: ['Contacts'],
        operationId: 'deleteContact',
        summary: 'Erase a contact',
        description:
          'Deletes all personal data: the contact, its group memberships, and its data in messages and events. Counts stay, and so do suppressions of the address, so that it is not emailed again. This cannot be undone. Export the contact first if you need a record of it.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await eraseContact(db, ...targetOf(request, 'con'))
        return ok(null, 'Contact erased')
      },
    })

    api.get('/contacts/:id/export', {
      config: { permission: 'contacts:read' },
      schema: {
        tags: ['Contacts'],
        operationId: 'exportContact',
        summary: 'Export everything stored about a contact',
        description:
          'One JSON file for a person who asks for their data: the contact, its groups and history, messages with subject and context, events, webhook deliveries, suppressions, emails in the built-in inbox and rejected import rows. Each list has at most 10,000 entries and about 4 MiB, the newest first; `truncated` names lists that have more. The response is streamed, with a `Content-Disposition` header that names a file.',
        params: IdParams,
        response: answers(ContactExport),
      },
      handler: async (request, reply) => {
        const id = parseIdParam('con', request.params.id)
        const pieces = await exportContact(read, organizationIdOf(request), id)
        reply
          .type('application/json; charset=utf-8')
          .header('content-disposition', `attachment; filename="${toText('con', id)}.json"`)
        return reply.send(Readable.from(pieces) as never)
      },
    })

    api.delete('', {
      config: { permission: 'organization:delete' },
      schema: {
        tags: ['Organization'],
        operationId: 'deleteOrganization',
        summary: 'Delete the organization and all of its data',
        description:
          'Owners only. Signs out all members, revokes all API keys, and stops sending, tracking and webhooks immediately. All data is erased in the background and cannot be restored. Requires the exact name of the organization and your own password, so that it cannot happen by accident.',
        errors: {
          conflict: 'The owners of this organization operate the installation, and other organizations use it.',
          not_found: 'The organization is already deleted.',
          validation_failed: 'The name or the password is incorrect.',
        },
        body: Type.Object({
          name: Type.String({ maxLength: organizationNameMax, description: 'The exact name of the organization.' }),
          password: Type.String({ minLength: 1, maxLength: 1024, description: 'Your own password.' }),
        }),
        response: answers(Nothing),
      },
      handler: async (request) => {
        const { name, password } = request.body
        const deletion = { name, password, address: request.ip }
        for (const key of await deleteOrganization(db, throttle, memberOf(request), deletion)) keys.forget(key)
        return ok(null, 'Organization deleted. Its data is being erased.')
      },
    })
  }
}
