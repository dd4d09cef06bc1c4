import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { organizationIdOf } from '../accounts/guards.ts'
import { getContact } from '../contacts/contacts.ts'
import type { Db } from '../db/db.ts'
import { answers, IdParams, ok } from '../http/envelope.ts'
import { parseEmail } from '../values/email.ts'
import { notFound, Refusal } from '../values/errors.ts'
import { parseIdParam } from '../values/id-params.ts'
import type { Acceptor } from './accept.ts'
import { findMessage } from './messages.sql.ts'
import { AcceptedOut, acceptedOut } from './send-email.routes.ts'

export function sendAgainRoutes({ db, acceptor }: { db: Db; acceptor: Acceptor }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/messages/:id/send-again', {
      schema: {
        tags: ['Messages'],
        operationId: 'sendMessageAgain',
        summary: 'Send a message again',
        description:
          'Sends a new message through the same flow to the same contact, with the same context. It uses the current version of the flow and the current address of the contact. For example after a bounce of a full mailbox. Suppressions and subscriptions are checked as for any other email.',
        errors: {
          conflict: 'The message is a test email, or its contact was erased.',
          flow_not_active: 'The flow is paused or archived.',
          missing_variables: 'The current version of the flow needs variables that the message was not sent with.',
          sender_not_verified: 'The sender of the flow is not in a verified domain.',
        },
        params: IdParams,
        response: answers(AcceptedOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const message = await findMessage(db, organizationId, parseIdParam('msg', request.params.id))
        if (!message) throw notFound('message')
        const { context, flowId, contactId, isTest } = message
        if (isTest) throw new Refusal('conflict', 'A test email cannot be sent again. Send another test from its flow.')
        if (context === null) throw new Refusal('conflict', 'The contact of this message was erased.')
        const contact = await getContact(db, organizationId, contactId)
        const parsed = parseEmail(contact.email)
        if (!parsed.ok) throw new Refusal('conflict', `The address of the contact ${parsed.problem}.`)
        const accepted = await acceptor.accept({
          organizationId,
          flowId,
          email: parsed.address,
          emailKey: parsed.key,
          context,
          contextText: JSON.stringify(context),
          idempotencyKey: null,
          requestHash: null,
        })
        return ok(acceptedOut(accepted), accepted.status === 'queued' ? 'Email queued' : 'Email not sent')
      },
    })
  }
}
