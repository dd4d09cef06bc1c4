import { hash } from 'node:crypto'
import { hasScope } from '../../accounts/accounts.ts'
import type { NewFile } from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { isStorable } from '../../platform/values/text.ts'
import type { Acceptor } from '../acceptance/accept.ts'
import { contextAsText } from '../acceptance/context.ts'
import { checkTags } from '../acceptance/email-input.ts'
import type { NewEmail, NewRecipient } from '../acceptance/submission.ts'
import type { ContentDetails } from '../attachments/content.ts'
import type { Uploads } from '../attachments/uploads.ts'
import { BodyUpload } from './body-upload.ts'
import type { Controls } from './control-headers.ts'
import { submissionLimits } from './limits.ts'
import type { SubmittedEmail } from './listener.ts'
import { headersToSend, type MessageHead } from './message-head.ts'
import { type ReadEmail, readEmail } from './read-email.ts'

export type AcceptParts = { acceptor: Acceptor; uploads: Uploads; senders: Senders }

/**
 * Reads a submitted email and accepts it for all of its recipients, or for none. Returns the text of the reply, with a line
 * for each recipient. Throws `Refusal` if it is rejected.
 */
export async function acceptSubmission(
  parts: AcceptParts,
  { key, recipients, content }: SubmittedEmail,
): Promise<string> {
  const { organizationId } = key
  const body = new BodyUpload(parts.uploads, organizationId)
  try {
    const email = await readEmail(content, submissionLimits, new Pacer(organizationId), async (head, { flow }) => {
      if (flow && !hasScope(key.scopes, 'flows:send'))
        throw new Refusal('insufficient_scope', 'This API key does not have the scope flows:send.')
      if (flow) return undefined
      for (const address of [head.from.email, head.sender])
        await parts.senders.check({ organizationId, address, path: 'from' })
      return body
    })
    const request = email.controls.flow
      ? throughFlow(email, email.controls.flow, recipients)
      : asItIs(email, await body.end(), body.isAscii, recipients)
    const accepted = await parts.acceptor.acceptEmail(organizationId, request)
    return accepted.email.messages.map(({ id }) => `Queued as ${toText('msg', id)}`).join('\n')
  } finally {
    await body.finish()
  }
}

/**
 * Identifies an email that is repeated. A program may compose it again, with another date and other boundaries of the same
 * length.
 */
function contentHashOf({ head, controls, parts }: ReadEmail, { hash: bodyHash, bytes }: NewFile): string {
  const shown = parts.map(({ kind, content }) => hash('sha256', `${kind} ${content}`))
  const body = shown.length > 0 ? [...shown, bytes] : [bodyHash]
  return hash('sha256', JSON.stringify([head.from.email, head.subject, controls, body]))
}

/** The same Message-ID, recipient and content within 24 hours are one email. Keys of the API have no spaces. */
function withKeys(
  { messageId }: MessageHead,
  recipients: readonly EmailAddress[],
  requestHash: string,
): NewRecipient[] {
  if (messageId === null) return [...recipients]
  return recipients.map((recipient) => {
    const value = `smtp ${hash('sha256', `${messageId} ${recipient.emailKey}`)}`
    return { ...recipient, key: { value, requestHash } }
  })
}

function asItIs(email: ReadEmail, file: NewFile, isAscii: boolean, recipients: readonly EmailAddress[]): NewEmail {
  const { head, controls } = email
  return {
    source: 'content',
    kind: controls.kind,
    recipients: withKeys(head, recipients, contentHashOf(email, file)),
    subject: head.subject,
    tags: checkTags(controls.tags),
    sendAt: null,
    content: { ...contentOf(email, file, isAscii), files: [file] },
  }
}

function contentOf({ head, controls, parts }: ReadEmail, file: NewFile, isAscii: boolean) {
  const known = parts.filter(({ content }) => isStorable(content))
  const textOf = (kind: 'html' | 'text') => known.find((part) => part.kind === kind)?.content ?? null
  const details: ContentDetails = {
    kind: 'raw',
    from: head.from,
    to: head.to,
    cc: head.cc,
    replyTo: [],
    headers: [],
    tracking: controls.tracking,
    attachments: [],
    raw: {
      ...headersToSend(head, { isMarketing: controls.kind === 'marketing', now: new Date() }),
      body: { fileId: file.id, bytes: file.bytes, isAscii },
      parts: known.map(({ content: _, ...part }) => part),
    },
  }
  return { details, html: textOf('html'), text: textOf('text') }
}

function throughFlow(
  { head, controls: { tags } }: ReadEmail,
  { id, context }: NonNullable<Controls['flow']>,
  recipients: readonly EmailAddress[],
): NewEmail {
  if (tags.length > 0) throw new Refusal('validation_failed', 'X-Waxwing-Tags cannot be combined with X-Waxwing-Flow.')
  const flowId = parseIdParam('flw', id)
  const contextText = contextAsText(context)
  return {
    source: 'flow',
    flowId,
    recipients: withKeys(head, recipients, hash('sha256', `${flowId} ${contextText}`)),
    ...{ context, contextText, sendAt: null, content: null, test: null },
  }
}
