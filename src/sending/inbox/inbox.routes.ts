import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import PostalMime, { type Email } from 'postal-mime'
import { Type } from 'typebox'
import { may, organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, IdParams, Named, Nullable, ok, page, pages, Timestamp } from '../../platform/http/envelope.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { notFound } from '../../platform/values/errors.ts'
import { type MessageId, parseId, toText } from '../../platform/values/ids.ts'
import { AttachmentOut, attachmentsOut } from '../attachments/attachment-shapes.ts'
import { findWholeContent } from '../attachments/contents.ts'
import { emptyInbox, findInInbox, type InboxSummary, selectInbox } from './inbox.sql.ts'

const SummaryOut = Named('InboxEmailSummary', {
  id: Type.String(),
  message_id: Nullable(Type.String()),
  from: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  received_at: Timestamp,
  size_bytes: Type.Integer(),
})
const EmailOut = Named('InboxEmail', {
  ...SummaryOut.properties,
  html: Nullable(Type.String()),
  text: Nullable(Type.String()),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  truncated: Type.Boolean({ description: 'Whether only the start of the email is returned.' }),
  raw: Type.String(),
  attachments: Type.Array(AttachmentOut, {
    description: 'Attachments of the message. They can be downloaded from it.',
  }),
})
const shownBytesMax = 256 * 1024
/** Parsing takes time per line: 256 KiB of very short lines would take more than a second. */
const shownLinesMax = 5_000

/** Returns the part of an email that is parsed and shown. */
function beginningOf(raw: Buffer): Buffer {
  let end = 0
  for (let lines = 0; lines < shownLinesMax; lines++) {
    const next = raw.indexOf(10, end)
    if (next === -1 || next >= shownBytesMax) return raw.subarray(0, shownBytesMax)
    end = next + 1
  }
  return raw.subarray(0, end)
}

/** The built-in inbox: emails that would have been sent if a relay were configured. */
export function inboxRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Inbox')
    api.get('/inbox', {
      config: { permission: 'inbox:read' },
      schema: {
        operationId: 'listInboxEmails',
        summary: 'List emails in the built-in inbox',
        description:
          'Emails that were not sent because no mail server is configured. Newest first. Account emails, such as password resets and invitations, are returned to owners only; their `message_id` is null. Empty if a mail server is configured.',
        querystring: Type.Object(pageQuery),
        response: pages(SummaryOut),
      },
      handler: async (request) => {
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const before = cursor?.[0] as MessageId | undefined
        const reader = readerOf(request)
        const { organizationId } = reader
        const filter = { before, limit: limit + 1, reader }
        const rows = await read(organizationId, (tx) => selectInbox(tx, organizationId, filter))
        const { items, nextCursor } = toPage(rows, limit, ({ messageId }) => [messageId])
        return page({ items: items.map(summaryOut), nextCursor })
      },
    })

    api.get('/inbox/:id', {
      config: { permission: 'inbox:read' },
      schema: {
        operationId: 'getInboxEmail',
        summary: 'Get an email of the built-in inbox',
        description: 'At most 256 KiB of the email are parsed and returned.',
        params: IdParams,
        response: answers(EmailOut),
      },
      handler: async (request) => {
        const id = parseId('msg', request.params.id)
        const reader = readerOf(request)
        const email = id && (await findInInbox(db, reader.organizationId, id, reader))
        if (!email) throw notFound('email')
        const shown = beginningOf(email.raw)
        const { html, text, headers } = await partsOf(shown)
        const content = email.contentId ? await findWholeContent(db, reader.organizationId, email.contentId) : undefined
        return ok({
          ...summaryOut(email),
          html: html ?? null,
          text: text ?? null,
          headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
          truncated: shown.length < email.sizeBytes,
          raw: shown.toString('utf8'),
          attachments: attachmentsOut(content),
        })
      },
    })

    api.delete('/inbox', {
      config: { permission: 'inbox:write' },
      schema: {
        operationId: 'deleteInboxEmails',
        summary: 'Delete all emails of the built-in inbox',
        description: 'The messages are kept. This cannot be undone.',
        response: answers(Named('DeletedEmails', { deleted: Type.Integer() })),
      },
      handler: async (request) => {
        const reader = readerOf(request)
        return ok({ deleted: await emptyInbox(db.statement, reader.organizationId, reader) })
      },
    })
  }
}

const readerOf = (request: FastifyRequest) => ({
  organizationId: organizationIdOf(request),
  seesAccountEmails: may(request, 'account_emails:read'),
})

const summaryOut = (email: InboxSummary) => ({
  id: toText('msg', email.messageId),
  message_id: email.isMessage ? toText('msg', email.messageId) : null,
  from: email.sender,
  to: email.recipient,
  subject: email.subject,
  received_at: email.receivedAt.toISOString(),
  size_bytes: email.sizeBytes,
})

type Parts = Pick<Email, 'headers'> & { html?: string | undefined; text?: string | undefined }

/** An email that cannot be read, such as one with hundreds of levels of parts, has its source only. */
const partsOf = (raw: Buffer): Promise<Parts> => PostalMime.parse(raw).catch(() => ({ headers: [] }))
