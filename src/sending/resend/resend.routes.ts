import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { keyOf, may } from '../../accounts/accounts.ts'
import type { Mailbox } from '../../content/content.ts'
import { type Domain, findDomain, listDomains } from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { existing, invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { acceptAttachments, receivedFiles } from '../acceptance/email-body.ts'
import type { EmailInput } from '../acceptance/email-input.ts'
import { type EmailParts, submitEmails } from '../acceptance/emails.ts'
import { readIdempotencyKey } from '../acceptance/idempotency-key.ts'
import { parseSendAt } from '../acceptance/send-at.ts'
import type { EmailResult } from '../acceptance/submission.ts'
import type { ContentStore } from '../attachments/content-store.ts'
import { findWholeContent } from '../attachments/contents.ts'
import { mailboxText } from '../attempts/outgoing.ts'
import { cancelEmail, type EmailMessageRow, getMessagesOf, rescheduleEmail } from '../messages/email-messages.ts'
import { readResendEmail, readScheduledAt } from './email-input.ts'
import { answerResendError, unsupportedOperation } from './errors.ts'

const batchMax = 100

export type ResendParts = EmailParts & { db: Db; read: BoundedRead; contents: ContentStore }

/**
 * The part of the Resend API that its SDKs need to send: emails, batches, reading, cancelling and rescheduling an email, and
 * reading domains. Not part of the API document, since it is the one of Resend: https://resend.com/docs/api-reference.
 */
export function resendRoutes(parts: ResendParts): FastifyPluginAsyncTypebox {
  const { db, read, contents } = parts
  /** Programs that only send do not read what others have sent: they get neither domains nor the contents of emails. */
  const reading = { config: { permission: 'messages:read' }, schema: { hide: true } } as const
  const sending = { config: { permission: 'messages:send' }, schema: { hide: true } } as const
  return async (api) => {
    api.setErrorHandler(answerResendError)
    acceptAttachments(api, parts.uploads)

    api.post('/emails', {
      ...sending,
      handler: async (request) => {
        const { results, warnings } = await submit(parts, request, [readResendEmail(request.body)], true)
        return acceptedOf(results[0]!, warnings[0])
      },
    })

    api.post('/emails/batch', {
      ...sending,
      handler: async (request) => {
        const isAtomic = request.headers['x-batch-validation'] !== 'permissive'
        const inputs = await readBatch(request.body, isAtomic, new Pacer(keyOf(request).organizationId))
        const { results, warnings } = await submit(parts, request, inputs, isAtomic)
        const data = results.flatMap((result, index) => (result.ok ? [acceptedOf(result, warnings[index])] : []))
        if (isAtomic) return { data }
        const errors = results.flatMap((result, index) => (result.ok ? [] : [{ index, message: result.error.message }]))
        return { data, errors }
      },
    })

    api.get('/emails/:id', {
      ...sending,
      handler: async (request) => {
        const { organizationId } = keyOf(request)
        const mayRead = may(request, 'messages:read')
        const id = emailIdOf(request)
        const messages = await read(organizationId, (tx) => getMessagesOf(tx, organizationId, id))
        const stored = await existing('email', findWholeContent(db, organizationId, id))
        const content = mayRead ? await contents.withShownText(stored) : stored
        const [first] = messages
        const shown = (mailboxes: readonly Mailbox[]) => mailboxes.map(mailboxOut)
        const visible = new Set([...content.to, ...content.cc].map(({ email }) => email.toLowerCase()))
        const hidden = messages.filter(({ email }) => !visible.has(email.toLowerCase())).map(({ email }) => email)
        return {
          object: 'email',
          id: toText('eml', id),
          message_id: toText('msg', first.id),
          from: content.from ? mailboxOut(content.from) : null,
          to: shown(content.to),
          cc: shown(content.cc),
          bcc: mayRead ? hidden : [],
          reply_to: shown(content.replyTo),
          subject: first.subject,
          html: mayRead ? content.html : null,
          text: mayRead ? content.text : null,
          tags: first.tags ?? [],
          created_at: first.queuedAt.toISOString(),
          scheduled_at: first.sendAt?.toISOString() ?? null,
          last_event: lastEvent(first),
          ...(!content.isStored && {
            warnings: ['The content is no longer stored: it is deleted 30 days after the email is sent.'],
          }),
        }
      },
    })

    api.post('/emails/:id/cancel', {
      ...sending,
      handler: async (request) => {
        const id = emailIdOf(request)
        await cancelEmail(db, keyOf(request).organizationId, id)
        return { object: 'email', id: toText('eml', id) }
      },
    })

    api.patch('/emails/:id', {
      ...sending,
      handler: async (request) => {
        const id = emailIdOf(request)
        const text = readScheduledAt((request.body as { scheduled_at?: unknown } | null)?.scheduled_at)
        if (text === undefined) throw invalid({ path: 'scheduled_at', problem: 'is required' })
        const sendAt = parseSendAt(text, 'scheduled_at') ?? new Date()
        await rescheduleEmail(db, keyOf(request).organizationId, id, sendAt)
        return { object: 'email', id: toText('eml', id) }
      },
    })

    api.get('/domains', {
      ...reading,
      handler: async (request) => {
        const { organizationId } = keyOf(request)
        const domains = await read(organizationId, (tx) => listDomains(tx, organizationId))
        return { object: 'list', has_more: false, data: domains.map(domainOut) }
      },
    })

    api.get('/domains/:id', {
      ...reading,
      handler: async (request) => {
        const { organizationId } = keyOf(request)
        const id = parseIdParam('dom', (request.params as { id: string }).id)
        return { object: 'domain', ...domainOut(await existing('domain', findDomain(db, organizationId, id))) }
      },
    })

    for (const url of ['/emails', '/emails/*', '/domains', '/domains/*'])
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
        if (api.hasRoute({ method, url })) continue
        api.route({
          method,
          url,
          config: { permission: 'apiKey' },
          schema: { hide: true },
          handler: async () => {
            throw unsupportedOperation()
          },
        })
      }
  }
}

function submit(
  parts: EmailParts,
  request: FastifyRequest,
  inputs: Parameters<typeof submitEmails>[1]['inputs'],
  isAtomic: boolean,
) {
  return submitEmails(parts, {
    organizationId: keyOf(request).organizationId,
    inputs,
    files: receivedFiles(request),
    isAtomic,
    idempotencyKey: readIdempotencyKey(request.headers['idempotency-key'] as string | undefined),
  })
}

async function readBatch(body: unknown, isAtomic: boolean, pacer: Pacer) {
  if (!Array.isArray(body) || body.length === 0 || body.length > batchMax)
    throw invalid({ path: 'body', problem: `must be an array of 1 to ${batchMax} emails` })
  const emails: (EmailInput | Refusal)[] = []
  for (const email of body) {
    if (pacer.isDue) await pacer.turn()
    try {
      emails.push(readResendEmail(email))
    } catch (error) {
      if (isAtomic || !(error instanceof Refusal)) throw error
      emails.push(error)
    }
  }
  return emails
}

/** `warnings`, which the Resend API does not have, is only present if fields were ignored. */
function acceptedOf(result: EmailResult, warnings: readonly string[] = []) {
  if (!result.ok) throw result.error
  return { id: toText('eml', result.email.id!), ...(warnings.length > 0 && { warnings }) }
}

/** The id in the path. */
function emailIdOf({ params }: FastifyRequest) {
  const { id } = params as { id: string }
  if (!id.startsWith('eml_')) throw notFound('email')
  return parseIdParam('eml', id)
}

const mailboxOut = ({ name, email }: Mailbox) => mailboxText({ name: name ?? null, email })

/** What happened to the first recipient. */
function lastEvent({ status, isScheduled, reason, eventNames }: EmailMessageRow): string {
  const happened = new Set(eventNames)
  if (status === 'cancelled') return 'canceled'
  if (status === 'queued') return isScheduled ? 'scheduled' : reason === null ? 'queued' : 'delivery_delayed'
  if (status !== 'sent') return status
  if (happened.has('emailComplaint')) return 'complained'
  if (happened.has('emailClick')) return 'clicked'
  return happened.has('emailOpen') ? 'opened' : 'sent'
}

const statuses = { pending: 'pending', verified: 'verified', warning: 'verified', unverified: 'failed' } as const

const domainOut = ({ id, name, status, createdAt }: Domain) => ({
  id: toText('dom', id),
  name,
  status: statuses[status],
  created_at: createdAt.toISOString(),
  region: 'us-east-1',
  capabilities: { sending: 'enabled', receiving: 'disabled' },
})
