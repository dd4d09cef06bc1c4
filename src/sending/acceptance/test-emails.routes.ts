import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { memberOf } from '../../accounts/accounts.ts'
import { answers, FreeObject, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { createUnknownFieldCheck } from '../../platform/http/unknown-fields.ts'
import { type EmailAddress, parseEmailField } from '../../platform/values/email.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type FlowId, toText } from '../../platform/values/ids.ts'
import { contextAsText } from './context.ts'
import { parseSendAt, SendAt } from './send-at.ts'
import { messageOut, NotSentReason } from './send-email.routes.ts'
import type { AcceptedEmail } from './submission.ts'
import { sendTestEmails, type TestEmailParts, testRecipientsMax } from './test-emails.ts'

const addressLengthMax = 500
const Address = Type.String({ maxLength: addressLengthMax })
const TestIn = Type.Object({
  to: Type.Union([Address, Type.Array(Address, { minItems: 1, maxItems: testRecipientsMax })], {
    description: `An address, or 1 to ${testRecipientsMax} addresses.`,
  }),
  context: Type.Optional(Nullable(FreeObject)),
  send_at: SendAt,
  draft: Type.Optional(
    Type.Boolean({
      description: 'True: sends the unpublished changes, as is always the case for a flow that was never published.',
    }),
  ),
})
const checkUnknownFields = createUnknownFieldCheck(TestIn)
export const TestEmailOut = Named('TestEmail', {
  message_id: Type.String(),
  flow_id: Type.String(),
  contact_id: Nullable(Type.String({ description: 'Null if the address belongs to no contact.' })),
  contact_email: Type.String(),
  contact_created: Type.Boolean({ description: 'Always false.' }),
  status: oneOf('queued', 'scheduled', 'suppressed'),
  reason: NotSentReason,
  queued_at: Timestamp,
  send_at: Nullable(Timestamp),
  warnings: Type.Array(Type.String()),
})

/** Management API: sends test emails, which count nowhere. */
export function testEmailRoutes(parts: TestEmailParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/flows/:id/test', {
      config: { permission: 'messages:compose' },
      bodyLimit: largeBodyBytesMax,
      schema: {
        tags: ['Flows'],
        operationId: 'sendTestEmail',
        summary: 'Send a test email',
        description:
          'Sends the email of the flow to one address or several, also if the flow is paused. The subject starts with “[Test]”. A test email counts in no metrics, triggers no webhooks and creates no contact; its message is marked `is_test` and has no events, and its unsubscribe link unsubscribes no one. If `to` is invalid for one address, or a variable is missing, nothing is sent. Suppressed addresses receive no test email either.',
        errors: {
          conflict: '`draft` is true, but the flow has no unpublished changes.',
          missing_variables: 'The template needs variables that neither `context` nor the contact provides.',
          sender_not_verified: 'The sender of the flow is not in a verified domain.',
          rate_limited: 'The user exceeds the rate limit, or a new organization exceeds its daily number of messages.',
        },
        params: Type.Object({ id: Type.String() }),
        body: TestIn,
        response: answers(
          Named('TestEmails', {
            ...TestEmailOut.properties,
            emails: Type.Array(TestEmailOut, {
              description: 'One for each address. The other fields are those of the first.',
            }),
          }),
        ),
      },
      handler: async (request) => {
        const unknown = checkUnknownFields(request.body)
        const { organizationId } = memberOf(request)
        const flowId = parseIdParam('flw', request.params.id)
        const recipients = recipientsOf(request.body.to)
        const context = request.body.context ?? {}
        const contextText = contextAsText(context)
        const sendAt = parseSendAt(request.body.send_at ?? undefined)
        const isDraft = request.body.draft ?? false
        const test = { organizationId, flowId, recipients, context, contextText, sendAt, isDraft }
        const sent = testEmailsOut(flowId, await sendTestEmails(parts, test), unknown)
        return ok({ ...sent[0]!, emails: sent })
      },
    })
  }
}

/** An address that occurs twice gets one email, in the first spelling. */
function recipientsOf(to: string | string[]): EmailAddress[] {
  const addresses = Array.isArray(to)
    ? to.map((address, index) => parseEmailField(`to.${index}`, address))
    : [parseEmailField('to', to)]
  const keys = addresses.map(({ emailKey }) => emailKey)
  return addresses.filter(({ emailKey }, index) => keys.indexOf(emailKey) === index)
}

/** `unknown` are warnings about the request. */
export const testEmailsOut = (flowId: FlowId, accepted: AcceptedEmail, unknown?: readonly string[]) =>
  accepted.messages.map((message) =>
    messageOut(flowId, accepted, message, message.contactId && toText('con', message.contactId), unknown),
  )
