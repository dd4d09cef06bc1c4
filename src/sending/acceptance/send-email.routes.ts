import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keyOf, memberOf } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, FreeObject, IdParams, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { createUnknownFieldCheck } from '../../platform/http/unknown-fields.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type FlowId, toText } from '../../platform/values/ids.ts'
import { flowContent } from '../attachments/content.ts'
import type { NewContent } from '../attachments/contents.ts'
import type { Uploads } from '../attachments/uploads.ts'
import type { Acceptor } from './accept.ts'
import { AttachmentIn, attachmentLimits, attachmentsOf, type ReceivedFiles } from './attachment-input.ts'
import { cancelMessage } from './cancel.ts'
import { contextAsText } from './context.ts'
import { acceptAttachments, receivedFiles } from './email-body.ts'
import { hashOf } from './emails.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { parseSendAt, SendAt } from './send-at.ts'
import type { AcceptedEmail, AcceptedMessage, FlowEmail } from './submission.ts'

const flowSendFields = {
  contact_email: Type.String(),
  context: Type.Optional(Nullable(FreeObject)),
  send_at: SendAt,
}
const FlowSendIn = Type.Object(flowSendFields)
const SendIn = Type.Object({
  flow_id: Type.String(),
  ...flowSendFields,
  attachments: Type.Optional(Nullable(Type.Array(AttachmentIn, { description: attachmentLimits }))),
})
/** Names of other services. Ignoring them would send the email now, or twice. */
const foreignFields = {
  scheduled_at: 'send_at',
  schedule_at: 'send_at',
  scheduled_for: 'send_at',
  deliver_at: 'send_at',
  idempotency_key: 'the header Idempotency-Key',
}
const checkUnknownFields = createUnknownFieldCheck(SendIn, foreignFields)
const checkUnknownFlowSendFields = createUnknownFieldCheck(FlowSendIn, foreignFields)
const messages = { queued: 'Email queued', scheduled: 'Email scheduled', suppressed: 'Email not sent' } as const

/** Why an email is not sent. */
export const NotSentReason = Nullable(
  Type.Unsafe<string>({
    type: 'string',
    enum: ['hard_bounce', 'complaint', 'manual', 'unsubscribed', 'not_subscribed'],
    description: 'Why the email is not sent, if `status` is `suppressed`.',
  }),
)

export const AcceptedOut = Named('AcceptedEmail', {
  message_id: Type.String(),
  flow_id: Type.String(),
  contact_id: Type.String(),
  contact_email: Type.String(),
  contact_created: Type.Boolean(),
  status: oneOf('queued', 'scheduled', 'suppressed'),
  reason: NotSentReason,
  queued_at: Timestamp,
  send_at: Nullable(Type.String({ format: 'date-time', description: 'Null if the email is sent at once.' })),
  warnings: Type.Array(Type.String()),
})

type SendEmailParts = { acceptor: Acceptor; db: Db; uploads: Uploads }

export function sendEmailRoutes({ acceptor, db, uploads }: SendEmailParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    acceptAttachments(api, uploads)
    api.delete('/messages/:id', {
      config: { permission: 'messages:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'cancelEmail',
        summary: 'Cancel an email',
        description:
          'Cancels an email that is scheduled or queued. After a 200, the email is not sent. A scheduled or deferred email can be cancelled until an attempt starts. Any other queued email can be cancelled while no worker has taken over its queue, for example while sending is paused or the mail server is unreachable. Cancelling it again returns 200.',
        errors: { conflict: 'The email was sent, is being sent, or was not queued.' },
        params: IdParams,
        response: answers(Named('CancelledEmail', { message_id: Type.String(), status: oneOf('cancelled') })),
      },
      handler: async (request) => {
        const id = parseIdParam('msg', request.params.id)
        await cancelMessage(db, keyOf(request).organizationId, id)
        return ok({ message_id: toText('msg', id), status: 'cancelled' as const }, 'Email cancelled')
      },
    })

    api.post('/flow/send-email-through-flow', {
      bodyLimit: largeBodyBytesMax,
      config: { permission: 'flows:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'sendEmailThroughFlow',
        summary: 'Send an email to a contact through a flow',
        description: `Responds with 200 after the message is stored durably; the email itself is sent in the background. A contact that does not exist is created, in no group: it receives transactional flows, while marketing flows need a subscribed contact.

If the address is suppressed, or has unsubscribed and the flow is marketing, nothing is sent: \`status\` is \`suppressed\`, \`reason\` says why, and a message record exists.

\`context\` provides the variables of the template: an object of at most 64 KiB, nested at most 50 levels. Keys that the template does not use are reported in \`warnings\`.

With \`send_at\`, the email is sent at that time: \`status\` is \`scheduled\`. It has the content of the flow and the contact's values as they are now; whether the address is suppressed or unsubscribed is checked again when it is sent. It can be cancelled until then.

Send an \`Idempotency-Key\` to make retries safe: the first response is returned again for 24 hours, with \`Idempotent-Replayed: true\`.`,
        errors: {
          invalid_idempotency_key: 'The key does not consist of 1 to 255 visible ASCII characters.',
          not_found: 'The flow does not exist.',
          flow_not_active: 'The flow is paused or archived.',
          idempotency_key_reused: 'The key was used with another body.',
          missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
          sender_not_verified: 'The sender of the flow is not in a verified domain.',
          conflict:
            'The stored attachments of the organization exceed their limit, or the response to the first request with this Idempotency-Key is not available any more.',
          rate_limited: 'The key exceeds its rate limit, or a new organization exceeds its daily number of messages.',
        },
        headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
        body: SendIn,
        response: answers(AcceptedOut),
      },
      handler: async (request, reply) => {
        const { flow_id, contact_email: email, context, send_at: sendAt, attachments } = request.body
        const { organizationId } = keyOf(request)
        const unknown = checkUnknownFields(request.body)
        const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key'])
        const content = attachments?.length ? contentOf(attachments, receivedFiles(request)) : null
        const flowEmail = emailOf({ flowId: flow_id, email, context, sendAt, content })
        const key =
          idempotencyKey === null
            ? null
            : {
                value: idempotencyKey,
                requestHash: hashOf({
                  flow_id,
                  email,
                  context,
                  sendAt,
                  attachments: content && attachmentHashes(content),
                }),
              }
        const accepted = await acceptor.acceptEmail(organizationId, flowEmail, key)
        if (accepted.isReplayed) reply.header('idempotent-replayed', 'true')
        const sent = acceptedOut(flowEmail.flowId, accepted.email, unknown)
        return ok(sent, messages[sent.status])
      },
    })
  }
}

/** Management API: sends through a flow, like the public API. */
export function flowSendRoutes({ acceptor }: { acceptor: Acceptor }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/flows/:id/send', {
      config: { permission: 'messages:compose' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        tags: ['Flows'],
        operationId: 'sendFlow',
        summary: 'Send an email to one contact',
        description:
          'Sends an ordinary email, like the public API. It counts in metrics and triggers webhooks. For people who are signed in. Apps use `sendEmailThroughFlow` of the public API.',
        errors: {
          flow_not_active: 'The flow is paused or archived.',
          missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
          sender_not_verified: 'The sender of the flow is not in a verified domain.',
          rate_limited: 'The user exceeds the rate limit, or a new organization exceeds its daily number of messages.',
        },
        params: IdParams,
        body: FlowSendIn,
        response: answers(AcceptedOut),
      },
      handler: async (request) => {
        const { contact_email: email, context, send_at: sendAt } = request.body
        const unknown = checkUnknownFlowSendFields(request.body)
        const { organizationId } = memberOf(request)
        const flowEmail = emailOf({ flowId: request.params.id, email, context, sendAt, content: null })
        const accepted = await acceptor.acceptEmail(organizationId, flowEmail)
        const sent = acceptedOut(flowEmail.flowId, accepted.email, unknown)
        return ok(sent, messages[sent.status])
      },
    })
  }
}

type Input = {
  flowId: string
  email: string
  context: Record<string, unknown> | null | undefined
  sendAt: string | null | undefined
  content: NewContent | null
}

function contentOf(inputs: Parameters<typeof attachmentsOf>[0], files: ReceivedFiles): NewContent {
  const { attachments, used } = attachmentsOf(inputs, files)
  return { details: { ...flowContent, attachments }, html: null, text: null, files: used }
}

/** With the hashes of files instead of their ids, which differ in each request. */
const attachmentHashes = ({ details, files }: NewContent) =>
  details.attachments.map(({ fileId, ...attachment }, index) => ({ ...attachment, hash: files[index]!.hash }))

/** Throws `Refusal` if the address, the flow id or the context is invalid. */
function emailOf({ flowId, email, context, sendAt, content }: Input): FlowEmail {
  const address = parseEmailField('contact_email', email)
  const contextText = contextAsText(context ?? {})
  return {
    source: 'flow',
    flowId: parseIdParam('flw', flowId),
    recipients: [address],
    context: context ?? {},
    contextText,
    sendAt: parseSendAt(sendAt ?? undefined),
    content,
    test: null,
  }
}

/** The message of a recipient. `unknown` are warnings about the request. */
export function messageOut<Id extends string | null>(
  flowId: FlowId,
  { queuedAt, sendAt }: AcceptedEmail,
  { id, contactCreated, email, status, reason, warnings }: AcceptedMessage,
  contactId: Id,
  unknown: readonly string[] = [],
) {
  return {
    message_id: toText('msg', id),
    flow_id: toText('flw', flowId),
    contact_id: contactId,
    contact_email: email,
    contact_created: contactCreated,
    status,
    reason,
    queued_at: queuedAt.toISOString(),
    send_at: sendAt?.toISOString() ?? null,
    warnings: unknown.length === 0 ? warnings : [...unknown, ...warnings],
  }
}

/** An email with one recipient. */
export function acceptedOut(flowId: FlowId, accepted: AcceptedEmail, unknown?: readonly string[]) {
  const message = accepted.messages[0]!
  return messageOut(flowId, accepted, message, toText('con', message.contactId!), unknown)
}
