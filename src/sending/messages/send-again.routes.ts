import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import { getContact } from '../../audience/audience.ts'
import { fileIsGone } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, ok } from '../../platform/http/envelope.ts'
import { type EmailAddress, parseEmail } from '../../platform/values/email.ts'
import { existing, notFound, Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type EmailId, type OrganizationId, toText } from '../../platform/values/ids.ts'
import type { Acceptor } from '../acceptance/accept.ts'
import type { EmailAcceptor } from '../acceptance/accept-emails.ts'
import { AcceptedOut, acceptedOut } from '../acceptance/send-email.routes.ts'
import { findWholeContent, type NewContent } from '../attachments/contents.ts'
import { withNewMessageId } from '../attempts/compose-raw.ts'
import { findMessage, type MessageDetail } from './messages.sql.ts'

type SendAgainParts = { db: Db; acceptor: Acceptor; emails: EmailAcceptor }

export function sendAgainRoutes({ db, acceptor, emails }: SendAgainParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/messages/:id/send-again', {
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
        const { context, flowId, contactId, isTest } = message
        if (isTest) throw new Refusal('conflict', 'A test email cannot be sent again. Send another test from its flow.')
        if (context === null) throw new Refusal('conflict', 'The contact of this message was erased.')
        const contact = await getContact(db, organizationId, contactId)
        const parsed = parseEmail(contact.email)
        if (!parsed.ok) throw new Refusal('conflict', `The address of the contact ${parsed.problem}.`)
        const address = { email: parsed.address, emailKey: parsed.key }
        const content = message.contentId ? await contentOf(db, organizationId, message.contentId) : undefined
        if (content?.details.from) {
          const sent = await sendContentAgain(emails, message, address, content)
          return ok(sent, sent.status === 'queued' ? 'Email queued' : 'Email not sent')
        }
        const accepted = await acceptor.accept({
          organizationId,
          flowId,
          ...address,
          context,
          contextText: JSON.stringify(context),
          idempotencyKey: null,
          requestHash: null,
          content,
        })
        return ok(acceptedOut(accepted), accepted.status === 'queued' ? 'Email queued' : 'Email not sent')
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

/** Sends an email without a flow to one of its recipients again. */
async function sendContentAgain(
  emails: EmailAcceptor,
  { organizationId, flowId, flowKind: kind, contactId, subject, tags }: MessageDetail,
  address: EmailAddress,
  content: NewContent,
) {
  const email = { kind, recipients: [address], subject, tags: tags ?? [], sendAt: null, content }
  const submission = { organizationId, emails: [email], isAtomic: true, idempotencyKey: null, requestHash: null }
  const [result] = (await emails.accept(submission)).results
  if (!result?.ok) throw result?.error ?? notFound('message')
  const [message] = result.messages
  return {
    message_id: toText('msg', message!.id),
    flow_id: toText('flw', flowId),
    contact_id: toText('con', contactId),
    contact_email: address.email,
    contact_created: false,
    status: message!.status,
    reason: message!.reason,
    queued_at: new Date().toISOString(),
    send_at: null,
    warnings: [],
  }
}
