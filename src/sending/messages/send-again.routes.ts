import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import { getContact } from '../../audience/audience.ts'
import { fileIsGone } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, ok } from '../../platform/http/envelope.ts'
import { parseEmail } from '../../platform/values/email.ts'
import { existing, notFound, Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { EmailId, OrganizationId } from '../../platform/values/ids.ts'
import type { Acceptor } from '../acceptance/accept.ts'
import { AcceptedOut, acceptedOut } from '../acceptance/send-email.routes.ts'
import type { NewEmail } from '../acceptance/submission.ts'
import { findWholeContent, type NewContent } from '../attachments/contents.ts'
import { withNewMessageId } from '../attempts/compose-raw.ts'
import { findMessage } from './messages.sql.ts'

type SendAgainParts = { db: Db; acceptor: Acceptor }

export function sendAgainRoutes({ db, acceptor }: SendAgainParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/messages/:id/send-again', {
      config: { permission: 'messages:compose' },
      schema: {
        tags: ['Messages'],
        operationId: 'sendMessageAgain',
        summary: 'Send a message again',
        description:
          'Sends a new message through the same flow to the same contact, with the same context and attachments. It uses the current version of the flow and the current address of the contact; an email without a flow has the same content. For example after a bounce of a full mailbox. Suppressions and subscriptions are checked as for any other email.',
        errors: {
          conflict:
            'The message is a test email, its contact was erased, or its content or attachments are no longer stored.',
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
        const { context, flowId, contactId, isTest, flowKind, subject, tags } = message
        if (isTest) throw new Refusal('conflict', 'A test email cannot be sent again. Send another test from its flow.')
        if (context === null) throw new Refusal('conflict', 'The contact of this message was erased.')
        const contact = await getContact(db, organizationId, contactId)
        const parsed = parseEmail(contact.email)
        if (!parsed.ok) throw new Refusal('conflict', `The address of the contact ${parsed.problem}.`)
        const content = message.contentId ? await contentOf(db, organizationId, message.contentId) : null
        const envelope = { recipients: [{ email: parsed.address, emailKey: parsed.key }], sendAt: null }
        const email: NewEmail = content?.details.from
          ? { source: 'content', ...envelope, kind: flowKind, subject, tags: tags ?? [], content }
          : { source: 'flow', ...envelope, flowId, context, contextText: JSON.stringify(context), content, test: null }
        const accepted = await acceptor.acceptEmail(organizationId, email)
        const sent = acceptedOut(flowId, accepted.email)
        return ok(sent, sent.status === 'queued' ? 'Email queued' : 'Email not sent')
      },
    })
  }
}

/** The content of a message, for another one. Throws `Refusal` if its bodies or files are no longer stored. */
async function contentOf(db: Db, organizationId: OrganizationId, id: EmailId): Promise<NewContent> {
  const content = await existing('email', findWholeContent(db, organizationId, id))
  const { html, text, isStored, isLarge: _, bodyBytes: __, organizationId: ___, id: ____, ...details } = content
  const { raw, from } = details
  if (from && !isStored) throw new Refusal('conflict', 'The content of this email is no longer stored.')
  if (!isStored) throw fileIsGone()
  const source = raw && from ? withNewMessageId(raw, from.email, new Date()) : raw
  return { details: { ...details, raw: source }, html, text, files: [], reusesFiles: true }
}
