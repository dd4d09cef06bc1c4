import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { memberOf, requireOwner } from '../accounts/guards.ts'
import type { KeyCache } from '../accounts/key-cache.ts'
import { organizationNameMax } from '../accounts/shapes.ts'
import type { LoginThrottle } from '../accounts/throttle.ts'
import type { Db } from '../db/db.ts'
import { answers, Nothing, ok } from '../http/envelope.ts'
import { parseIdParam } from '../values/id-params.ts'
import { deleteOrganization } from './delete-organization.ts'
import { eraseContact } from './erase-contact.ts'

type Parts = { db: Db; keys: KeyCache; throttle: LoginThrottle }

/** Erasure of contacts and organizations. */
export function privacyRoutes({ db, keys, throttle }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.delete(
      '/contacts/:id',
      {
        schema: {
          tags: ['Contacts'],
          summary: 'Erase a contact',
          description:
            'Deletes all personal data: the contact, its group memberships, and its data in messages and events. Counts stay, and so do suppressions of the address, so that it is not emailed again.',
          params: Type.Object({ id: Type.String() }),
          response: answers(Nothing),
        },
      },
      async (request) => {
        await eraseContact(db, memberOf(request).organizationId, parseIdParam('con', request.params.id))
        return ok(null, 'Contact erased')
      },
    )

    api.delete(
      '',
      {
        onRequest: requireOwner,
        schema: {
          tags: ['Organization'],
          summary: 'Delete the organization and all of its data',
          description:
            'Owners only. Signs out all members, revokes all API keys, and stops sending, tracking and webhooks immediately. All data is erased in the background and cannot be restored.',
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
        return ok(null, 'Organization deleted. Its data is being erased.')
      },
    )
  }
}
