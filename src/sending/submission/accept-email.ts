import { hash } from 'node:crypto'
import { hasScope } from '../../accounts/accounts.ts'
import type { NewFile } from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import type { EmailAddress } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { type MessageId, type OrganizationId, toText } from '../../platform/values/ids.ts'
import { isStorable } from '../../platform/values/text.ts'
import type { Acceptor } from '../acceptance/accept.ts'
import type { EmailAcceptor } from '../acceptance/accept-emails.ts'
import { contextAsText, type SendRequest } from '../acceptance/draft.ts'
import { checkTags } from '../acceptance/email-input.ts'
import type { ContentDetails } from '../attachments/content.ts'
import type { Uploads } from '../attachments/uploads.ts'
import { BodyUpload } from './body-upload.ts'
import type { Controls } from './control-headers.ts'
import { submissionLimits } from './limits.ts'
import type { SubmittedEmail } from './listener.ts'
import { headersToSend, type MessageHead } from './message-head.ts'
import { type ReadEmail, readEmail } from './read-email.ts'

export type AcceptParts = { emails: EmailAcceptor; acceptor: Acceptor; uploads: Uploads; senders: Senders }

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
    const email = await readEmail(content, submissionLimits, async (head, { flow }) => {
      if (flow && !hasScope(key.scopes, 'flows:send'))
        throw new Refusal('insufficient_scope', 'This API key does not have the scope flows:send.')
      if (flow) return undefined
      for (const address of [head.from.email, head.sender])
        await parts.senders.check({ organizationId, address, path: 'from' })
      return body
    })
    const { flow, tags } = email.controls
    const ids = flow
      ? await acceptThroughFlow(parts, { organizationId, recipients, head: email.head, flow, tags })
      : await acceptAsIs(parts, { organizationId, recipients, email, body })
    return ids.map((id) => `Queued as ${toText('msg', id)}`).join('\n')
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
const keyOf = (messageId: string, { emailKey }: EmailAddress) => `smtp ${hash('sha256', `${messageId} ${emailKey}`)}`

type AsIs = {
  organizationId: OrganizationId
  recipients: readonly EmailAddress[]
  email: ReadEmail
  body: BodyUpload
}

async function acceptAsIs(
  { emails, uploads }: AcceptParts,
  { organizationId, recipients, email, body }: AsIs,
): Promise<MessageId[]> {
  const { head, controls } = email
  const { messageId } = head
  const file = await body.end()
  const recipientKeys = messageId === null ? [] : recipients.map((recipient) => keyOf(messageId, recipient))
  await uploads.checkSpace(organizationId, file.bytes, () => emails.areRepeated(organizationId, recipientKeys))
  const { details, html, text } = contentOf(email, file, body.isAscii)
  const request = {
    kind: controls.kind,
    recipients,
    ...(messageId !== null && { recipientKeys, contentHash: contentHashOf(email, file) }),
    subject: head.subject,
    tags: checkTags(controls.tags),
    sendAt: null,
    content: { details, html, text, files: [file] },
  }
  const submission = { organizationId, emails: [request], isAtomic: true, idempotencyKey: null, requestHash: null }
  const { results } = await emails.accept(submission)
  return results.flatMap((result) => (result.ok ? result.messages.map(({ id }) => id) : []))
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

type ThroughFlow = {
  organizationId: OrganizationId
  recipients: readonly EmailAddress[]
  head: MessageHead
  flow: NonNullable<Controls['flow']>
  tags: Controls['tags']
}

async function acceptThroughFlow(
  { acceptor }: AcceptParts,
  { organizationId, recipients, head, flow, tags }: ThroughFlow,
): Promise<MessageId[]> {
  if (tags.length > 0) throw new Refusal('validation_failed', 'X-Waxwing-Tags cannot be combined with X-Waxwing-Flow.')
  const { messageId } = head
  const flowId = parseIdParam('flw', flow.id)
  const contextText = contextAsText(flow.context)
  const contentHash = hash('sha256', `${flowId} ${contextText}`)
  const requests = recipients.map((recipient): SendRequest => {
    const idempotencyKey = messageId === null ? null : keyOf(messageId, recipient)
    return {
      ...{ organizationId, flowId, ...recipient, context: flow.context, contextText, idempotencyKey },
      requestHash: idempotencyKey === null ? null : contentHash,
    }
  })
  const [first, ...others] = requests
  // A single request shares its transaction with others.
  const accepted = others.length > 0 ? await acceptor.acceptTogether(requests) : [await acceptor.accept(first!)]
  return accepted.map((each) => each.messageId)
}
