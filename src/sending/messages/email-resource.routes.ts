import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { keyOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { Strict } from '../../platform/http/unknown-fields.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type EmailId, toText } from '../../platform/values/ids.ts'
import { parseSendAt } from '../acceptance/send-at.ts'
import {
  cancelEmail,
  type EmailMessageRow,
  type EmailMessages,
  getMessagesOf,
  rescheduleEmail,
} from './email-messages.ts'

const EmailOut = Named('SentEmailStatus', {
  id: Type.String(),
  subject: Type.String(),
  status: Type.Unsafe<EmailStatus>({
    ...oneOf('scheduled', 'queued', 'sent', 'partly_sent', 'cancelled', 'failed'),
    description:
      '`partly_sent`: some recipients were sent the email, and the others were not, or not yet. `failed`: no recipient got it.',
  }),
  send_at: Nullable(Type.String({ format: 'date-time', description: 'Null if the email was sent at once.' })),
  created_at: Timestamp,
  messages: Type.Array(
    Named('SentEmailRecipient', {
      id: Type.String({ description: 'The message, `msg_…`.' }),
      email: Type.String(),
      status: oneOf('scheduled', 'queued', 'sent', 'bounced', 'suppressed', 'failed', 'cancelled'),
      reason: Nullable(Type.String({ description: 'Why the message has this status, if there is a reason.' })),
    }),
    { description: 'One for each recipient.' },
  ),
})

type EmailStatus = 'scheduled' | 'queued' | 'sent' | 'partly_sent' | 'cancelled' | 'failed'

/** Public API: an email without a flow as a whole, with all of its recipients. */
export function emailResourceRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.get('/emails/:id', {
      config: { permission: 'messages:read' },
      schema: {
        tags: ['Public API'],
        operationId: 'getEmail',
        summary: 'Get an email without a flow',
        description: 'Returns what became of the email for each of its recipients.',
        params: IdParams,
        response: answers(EmailOut),
      },
      handler: async (request) => {
        const { organizationId, id } = emailOf(request)
        return ok(emailOut(id, await read(organizationId, (tx) => getMessagesOf(tx, organizationId, id))))
      },
    })

    api.patch('/emails/:id', {
      config: { permission: 'messages:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'rescheduleEmail',
        summary: 'Reschedule an email without a flow',
        description: 'Changes the time for all recipients, while the email is scheduled for each of them.',
        errors: { conflict: 'The email is no longer scheduled for every recipient, or is due within a few seconds.' },
        params: IdParams,
        body: Strict(
          Named('EmailChanges', {
            send_at: Type.String({
              format: 'date-time',
              description: 'An RFC 3339 time, at most 90 days ahead. The email is sent at once if it has passed.',
            }),
          }),
        ),
        response: answers(EmailOut),
      },
      handler: async (request) => {
        const { organizationId, id } = emailOf(request)
        const sendAt = parseSendAt(request.body.send_at) ?? new Date()
        return ok(emailOut(id, await rescheduleEmail(db, organizationId, id, sendAt)), 'Email rescheduled')
      },
    })

    api.delete('/emails/:id', {
      config: { permission: 'messages:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'cancelEmailForAll',
        summary: 'Cancel an email without a flow',
        description:
          'Cancels the email for every recipient for whom it was not handed to a mail server yet, and returns the email as it is then. Repeating it returns 200.',
        errors: { conflict: 'The email could not be cancelled for any recipient.' },
        params: IdParams,
        response: answers(EmailOut),
      },
      handler: async (request) => {
        const { organizationId, id } = emailOf(request)
        return ok(emailOut(id, await cancelEmail(db, organizationId, id)), 'Email cancelled')
      },
    })
  }
}

const emailOf = (request: FastifyRequest) => ({
  organizationId: keyOf(request).organizationId,
  id: parseIdParam('eml', (request.params as { id: string }).id),
})

const statusOf = ({ status, isScheduled }: EmailMessageRow) => (isScheduled ? 'scheduled' : status)

function emailOut(id: EmailId, messages: EmailMessages) {
  const [first] = messages
  return {
    id: toText('eml', id),
    subject: first.subject,
    status: statusOfAll(messages),
    send_at: first.sendAt?.toISOString() ?? null,
    created_at: first.queuedAt.toISOString(),
    messages: messages.map((message) => ({
      id: toText('msg', message.id),
      email: message.email,
      status: statusOf(message),
      reason: message.reason,
    })),
  }
}

function statusOfAll(messages: EmailMessages): EmailStatus {
  const statuses = new Set(messages.map(statusOf))
  if (statuses.has('sent')) return statuses.size === 1 ? 'sent' : 'partly_sent'
  if (statuses.has('queued')) return 'queued'
  if (statuses.has('scheduled')) return 'scheduled'
  return statuses.has('cancelled') ? 'cancelled' : 'failed'
}
