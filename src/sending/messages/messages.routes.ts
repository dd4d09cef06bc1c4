import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Transport } from '@waxwing/smtp-client'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { may, organizationIdOf } from '../../accounts/accounts.ts'
import {
  attachmentHeaders,
  downloadFile,
  type Mailbox,
  type TemplateCache,
  type TemplateRunner,
} from '../../content/content.ts'
import { installationServer, type Senders } from '../../delivery/delivery.ts'
import { selectDeliveriesOfEvents } from '../../events/events.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, errorsOnly, IdParams, ok } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { simulatedBehaviour } from '../../platform/values/simulated-recipients.ts'
import { cancelMessage } from '../acceptance/cancel.ts'
import { attachmentsOut } from '../attachments/attachment-shapes.ts'
import type { ContentStore } from '../attachments/content-store.ts'
import { findWholeContent } from '../attachments/contents.ts'
import { limitReason, serverDownReason } from '../attempts/outcome.ts'
import { type EmailBody, mailboxText, senderOfMessage, showMail } from '../attempts/outgoing.ts'
import { inboxHolds, inboxReply } from '../inbox/inbox.ts'
import { messageListRoutes } from './message-list.routes.ts'
import { messageOut } from './message-out.ts'
import { MessageDeliveryOut, MessageDetailOut, MessageOut } from './message-shapes.ts'
import { findMessage, type MessageDetail, selectEventsOf } from './messages.sql.ts'
import { findWaiting } from './waiting.ts'

const attachmentFile = {
  description: 'The file.',
  content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
}

/** Reads of attachments for downloads. */
const downloads = { perOrganization: 2, overall: 6, waitingPerOrganization: 200, waitMs: 30_000 }

export type MessageParts = {
  stageRegistry: StageRegistry
  db: Db
  read: BoundedRead
  contents: ContentStore
  templates: TemplateCache
  runner: TemplateRunner
  senders: Senders
  relay: Pick<Transport, 'state'> | undefined
}

export function messageRoutes(parts: MessageParts): FastifyPluginAsyncTypebox {
  const { db, read, senders } = parts
  const downloadReads = parts.stageRegistry.stage('downloads', 'service', downloads)
  const waitingContext = (request: FastifyRequest) => ({
    relay: parts.relay?.state(),
    showsRelay: may(request, 'installation:read'),
  })
  return async (api) => {
    tagRoutes(api, 'Messages')
    messageListRoutes(api, { read, waitingContext })
    api.get('/messages/:id', {
      config: { permission: 'messages:read' },
      schema: {
        operationId: 'getMessage',
        summary: 'Get a message',
        description:
          'Includes its events and the email as it was sent. `html`, `text` and `context` are null after the contact was erased. The content of an email without a flow is deleted 30 days after it was sent.',
        params: IdParams,
        response: answers(MessageDetailOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const message = await findMessage(db, organizationId, parseIdParam('msg', request.params.id))
        if (!message) throw notFound('message')
        const content = message.contentId ? await findWholeContent(db, organizationId, message.contentId) : undefined
        const [events, waiting, bodies, isInInbox, from] = await Promise.all([
          selectEventsOf(db, organizationId, [message]),
          findWaiting(db, organizationId, [message], waitingContext(request)),
          bodiesOf(parts, message, content),
          inboxHolds(db, organizationId, message.id),
          senderOfMessage(senders, organizationId, message, content),
        ])
        const deliveries = await selectDeliveriesOfEvents(
          db,
          organizationId,
          events.map(({ id }) => id),
        )
        return ok({
          ...messageOut(message, events, waiting.get(message.id)),
          flow_version: message.flowVersion,
          from: mailboxText(from),
          to: (content?.to ?? []).map(shownMailbox),
          cc: (content?.cc ?? []).map(shownMailbox),
          tags: message.tags ?? [],
          attachments: attachmentsOut(content),
          is_without_flow: message.isBuiltIn,
          email_id: message.contentId && toText('eml', message.contentId),
          ...bodies,
          is_content_deleted: isDeleted(content),
          delivered_to: deliveredTo(message),
          mail_server: mailServerOut(message),
          relay_response: relayResponseOf(message),
          context: message.context,
          in_inbox: isInInbox,
          webhook_deliveries: deliveries.map(deliveryOut),
        })
      },
    })

    api.get('/messages/:id/attachments/:position', {
      config: { permission: 'messages:read' },
      schema: {
        operationId: 'downloadAttachment',
        summary: 'Download an attachment of a message',
        description: 'The position among `attachments` of the message, from 0. Attachments are kept for 30 days.',
        errors: { not_found: 'The message does not exist, or its attachment is not stored any more.' },
        params: Type.Object({ id: Type.String(), position: Type.String({ description: 'The position, from 0.' }) }),
        response: { 200: attachmentFile, ...errorsOnly },
      },
      handler: async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const message = await findMessage(db, organizationId, parseIdParam('msg', request.params.id))
        if (!message) throw notFound('message')
        const content = message.contentId ? await findWholeContent(db, organizationId, message.contentId) : undefined
        const file = content?.attachments[Number(request.params.position)]
        if (!file || !content.isStored) throw notFound('attachment')
        const [disposition] = attachmentHeaders({ ...file, contentId: null }).slice(-1)
        return reply
          .headers({
            // Never shown by the browser, whatever it is.
            'content-type': 'application/octet-stream',
            'content-disposition': disposition!.replace(/^[^:]*: /, '').replaceAll('\r\n', ''),
            'content-length': String(file.bytes),
          })
          .send(Readable.from(downloadFile(db, downloadReads, organizationId, file)))
      },
    })

    api.delete('/messages/:id', {
      config: { permission: 'flows:send' },
      schema: {
        operationId: 'cancelMessage',
        summary: 'Cancel a message',
        description:
          'Cancels an email that is scheduled or queued. After a 200, the email is not sent. A scheduled or deferred email can be cancelled until an attempt starts. Any other queued email can be cancelled while no worker has taken over its queue, for example while sending is paused or the mail server is unreachable. Cancelling it again returns 200.',
        errors: { conflict: 'The email was sent, is being sent, or was not queued.' },
        params: IdParams,
        response: answers(MessageOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const id = parseIdParam('msg', request.params.id)
        await cancelMessage(db, organizationId, id)
        const message = await findMessage(db, organizationId, id)
        if (!message) throw notFound('message')
        return ok(
          messageOut(message, await selectEventsOf(db, organizationId, [message]), undefined),
          'Email cancelled',
        )
      },
    })
  }
}

/** What is stored with an email that waits is no reply. */
const relayResponseOf = ({ relayReply, reason }: MessageDetail): string | null =>
  relayReply === inboxReply || reason === limitReason || reason === serverDownReason ? null : relayReply

function deliveredTo({ relayReply, sentAt, email }: MessageDetail): 'inbox' | 'mail_server' | 'simulator' | null {
  if (relayReply === inboxReply) return 'inbox'
  if (relayReply === null || sentAt === null) return null
  return simulatedBehaviour(email) ? 'simulator' : 'mail_server'
}

const shownMailbox = ({ name, email }: Mailbox) => mailboxText({ name: name ?? null, email })

type StoredContent = Awaited<ReturnType<typeof findWholeContent>>

/** Only the attachments of an email through a flow are in its content. */
const isDeleted = (content: StoredContent): boolean =>
  content !== undefined && content.from !== null && !content.isStored

/** Returns nulls if the content was deleted, for example because the contact was erased. */
async function bodiesOf(
  { templates, runner, contents }: Pick<MessageParts, 'templates' | 'runner' | 'contents'>,
  message: MessageDetail,
  content: StoredContent,
): Promise<EmailBody> {
  const nothing = { html: null, text: null }
  if (message.context === null || isDeleted(content)) return nothing
  const versions = await templates.getAll([{ organizationId: message.organizationId, id: message.flowVersionId }])
  const version = versions.get(message.flowVersionId)
  if (!version) return nothing
  try {
    const row = { ...message, queuedAt: message.sendAt ?? message.queuedAt }
    const { html, text } = await showMail(
      runner,
      version,
      row,
      content?.from ? await contents.withShownText(content) : undefined,
    )
    return { html, text }
  } catch (error) {
    if (error instanceof Refusal && error.type !== 'unavailable') return nothing
    throw error
  }
}

const deliveryOut = outOf(MessageDeliveryOut, { id: 'dlv', webhook_id: 'whk' })

const mailServerOut = ({ mailServerId: id, mailServerName: name }: MessageDetail) =>
  id === null || id === installationServer ? null : { id: toText('mse', id), name }
