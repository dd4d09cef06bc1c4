import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keyOf } from '../../accounts/accounts.ts'
import { answers, FieldProblemOut, Named, ok, oneOf } from '../../platform/http/envelope.ts'
import { validationRefusal } from '../../platform/http/errors.ts'
import { compileValidator, createCheck } from '../../platform/http/validator.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { invalid, type Refusal } from '../../platform/values/errors.ts'
import { toText } from '../../platform/values/ids.ts'
import { acceptAttachments, receivedFiles } from './email-body.ts'
import { EmailIn, type EmailInput, recipientsMax } from './email-input.ts'
import { batchRecipientsMax, type EmailParts, submitEmail, submitEmails } from './emails.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { NotSentReason } from './send-email.routes.ts'
import type { AcceptedEmail, EmailResult } from './submission.ts'

const batchMax = 100

const MessageOut = Named('AcceptedEmailMessage', {
  id: Type.String(),
  email: Type.String(),
  status: oneOf('queued', 'scheduled', 'suppressed'),
  reason: NotSentReason,
})
const SentOut = Named('SentEmail', {
  id: Type.String({ description: 'The id of the email. Each of its recipients has a message.' }),
  messages: Type.Array(MessageOut),
  warnings: Type.Array(Type.String()),
})
const BatchErrorOut = Named('EmailError', {
  type: Type.String(),
  message: Type.String(),
  fields: Type.Array(FieldProblemOut),
})
const BatchOut = Named('SentEmails', {
  results: Type.Array(
    Named('SentEmailResult', {
      ok: Type.Boolean(),
      id: Type.Optional(Type.String()),
      messages: Type.Optional(Type.Array(MessageOut)),
      warnings: Type.Optional(Type.Array(Type.String())),
      error: Type.Optional(BatchErrorOut),
    }),
  ),
})

const limits = `An email has at most ${recipientsMax} recipients, 20 attachments of 10 MB each and 15 MB together. The body must arrive within 30 seconds.`

const errors = {
  invalid_idempotency_key: 'The key does not consist of 1 to 255 visible ASCII characters.',
  idempotency_key_reused: 'The key was used with another body.',
  conflict:
    'The stored attachments of the organization exceed their limit, or the response to the first request with this Idempotency-Key is not available any more.',
  payload_too_large: 'The body exceeds 26 MB, or 5 MB without its attachments.',
  sender_not_verified: 'The sender is not in a verified domain.',
  rate_limited:
    'The key exceeds its rate limit, the organization sends too many large emails at once, or a new organization exceeds its daily number of messages.',
} as const

/** Public API: sends emails without a flow. */
export function emailRoutes(parts: EmailParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    acceptAttachments(api, parts.uploads)
    api.post('/emails', {
      config: { permission: 'messages:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'sendEmail',
        summary: 'Send an email without a flow',
        description: `Responds with 200 after the email is stored durably; it is sent in the background. Each recipient in \`to\`, \`cc\` and \`bcc\` gets a message of its own: all of them see the same To and Cc, and nobody sees Bcc. Contacts that do not exist are created, in no group. If an address is suppressed, nothing is sent to it: the \`status\` of its message is \`suppressed\`.

The email is tracked and reported like one through a flow; in reports, it belongs to the flow “Emails without a flow”.

${limits}

Send an \`Idempotency-Key\` to make retries safe: the first response is returned again for 24 hours, with \`Idempotent-Replayed: true\`. One key covers all messages.`,
        errors,
        headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
        body: EmailIn,
        response: answers(SentOut),
      },
      handler: async (request, reply) => {
        const { email, warnings, isReplayed } = await submitEmail(parts, {
          organizationId: keyOf(request).organizationId,
          input: request.body,
          files: receivedFiles(request),
          idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
        })
        if (isReplayed) reply.header('idempotent-replayed', 'true')
        return ok({ ...emailOut(email), warnings }, 'Email accepted')
      },
    })

    api.post('/emails/batch', {
      config: { permission: 'messages:send' },
      schema: {
        tags: ['Public API'],
        operationId: 'sendEmails',
        summary: 'Send up to 100 emails',
        description: `Each email is accepted or rejected on its own; the results have the order of the request. With \`atomic=true\`, all of them are accepted, or none: then the response is the error of the first one that was rejected. A request has at most ${batchMax} emails and ${batchRecipientsMax} recipients.

${limits} All attachments of a request have to fit into a body of 26 MB.

An \`Idempotency-Key\` covers the whole request.`,
        errors,
        headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
        querystring: Type.Object({
          atomic: Type.Optional(
            Type.Boolean({ description: 'Whether all emails are rejected if one of them is. Default: false.' }),
          ),
        }),
        body: Type.Array(EmailIn, { minItems: 1, maxItems: batchMax }),
        response: answers(BatchOut),
      },
      // Emails are validated one by one, so that an invalid one does not fail the others.
      validatorCompiler: (route) => (route.httpPart === 'body' ? () => true : compileValidator(route)),
      handler: async (request, reply) => {
        const isAtomic = request.query.atomic ?? false
        const { results, warnings, isReplayed } = await submitEmails(parts, {
          organizationId: keyOf(request).organizationId,
          inputs: await readBatch(request.body, new Pacer(keyOf(request).organizationId)),
          files: receivedFiles(request),
          isAtomic,
          idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
        })
        if (isReplayed) reply.header('idempotent-replayed', 'true')
        return ok({ results: results.map((result, index) => resultOf(result, warnings[index] ?? [])) })
      },
    })
  }
}

const checkEmail = createCheck(EmailIn)

/** Returns the emails of a request, and a refusal for each that is not valid. */
async function readBatch(body: unknown, pacer: Pacer): Promise<(EmailInput | Refusal)[]> {
  if (!Array.isArray(body)) throw invalid({ path: 'body', problem: 'must be array' })
  if (body.length === 0) throw invalid({ path: 'body', problem: 'must have at least 1 element' })
  if (body.length > batchMax) throw invalid({ path: 'body', problem: `must have at most ${batchMax} elements` })
  const emails: (EmailInput | Refusal)[] = []
  for (const email of body) {
    if (pacer.isDue) await pacer.turn()
    const found = checkEmail(email)
    emails.push(found ? validationRefusal(found.errors) : (email as EmailInput))
  }
  return emails
}

const emailOut = ({ id, messages }: AcceptedEmail) => ({
  id: toText('eml', id!),
  messages: messages.map((message) => ({
    id: toText('msg', message.id),
    email: message.email,
    status: message.status,
    reason: message.reason,
  })),
})

function resultOf(result: EmailResult, warnings: string[]) {
  if (result.ok) return { ok: true, ...emailOut(result.email), warnings }
  const { type, message, fields } = result.error
  return { ok: false, error: { type, message, fields } }
}
