import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, IdParams, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { type Consent, selectConsents } from './consents.sql.ts'
import { getContact } from './contacts.ts'
import { actorIdText, actorTypes } from './history.ts'

export const ConsentOut = Named('Consent', {
  at: Timestamp,
  action: oneOf('subscribed', 'unsubscribed'),
  source: Nullable(
    Type.Object(
      {
        type: oneOf(...actorTypes),
        id: Nullable(Type.String()),
        name: Nullable(
          Type.String({ description: 'The email of a user, the name of an API key, the file of an import.' }),
        ),
      },
      { description: 'Who subscribed or unsubscribed the contact. Null if unknown.' },
    ),
  ),
  ip: Nullable(
    Type.String({ description: 'The address of the client. Only kept if the organization stores addresses.' }),
  ),
  method: Nullable(Type.String({ description: 'Of an unsubscription: one_click, page or api.' })),
  event_id: Nullable(Type.String()),
  message_id: Nullable(Type.String({ description: 'The message whose link was used.' })),
})

/** The record of consent: when a contact was subscribed and unsubscribed, and by whom. */
export function consentRoutes({ read }: { read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/contacts/:id/consents', {
      config: { permission: 'contacts:read' },
      schema: {
        tags: ['Contacts'],
        operationId: 'listContactConsents',
        summary: 'List the consents of a contact',
        description:
          'Every subscription and unsubscription, with its time, source and address. Newest first. The record of consent. Contacts that were created by a send, or subscribed before this was recorded, may have no entries.',
        params: IdParams,
        response: answers(Type.Array(ConsentOut)),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'con')
        const consents = await read(organizationId, async (tx) => {
          await getContact(tx, organizationId, id)
          return selectConsents(tx, organizationId, id)
        })
        return ok(consents.map(consentOut))
      },
    })
  }
}

export const consentOut = outOf(
  ConsentOut,
  { event_id: 'evt', message_id: 'msg' },
  {
    source: ({ actorType: type, actorId, actorName }: Consent) =>
      type && { type, id: actorIdText(type, actorId), name: actorName },
  },
)
