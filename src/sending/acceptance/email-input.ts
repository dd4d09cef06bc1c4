import { type Static, Type } from 'typebox'
import type { Mailbox } from '../../content/content.ts'
import { instructsRelay } from '../../delivery/delivery.ts'
import { Named, Nullable, oneOf } from '../../platform/http/envelope.ts'
import { createUnknownFieldCheck } from '../../platform/http/unknown-fields.ts'
import { type EmailAddress, parseEmail } from '../../platform/values/email.ts'
import { invalid } from '../../platform/values/errors.ts'
import { isLongerThan, isStorable, unstorableProblem } from '../../platform/values/text.ts'
import type { ContentDetails, Tag } from '../attachments/content.ts'
import { AttachmentIn, attachmentLimits, attachmentsOf, type ReceivedFiles } from './attachment-input.ts'
import { parseSendAt, SendAt } from './send-at.ts'
import type { OwnEmail } from './submission.ts'

export const recipientsMax = 50
const mailboxLengthMax = 500
const nameLengthMax = 200
const subjectLengthMax = 998
const bodyBytesMax = 1024 * 1024
const headersMax = 20
const headerLengthMax = 2_000
const tagsMax = 10
const tagLengthMax = 256

const Addresses = Type.Unsafe<string | string[]>({
  title: 'EmailAddresses',
  type: ['string', 'array'],
  items: { type: 'string' },
  description: `An address, such as \`ada@example.com\` or \`Ada <ada@example.com>\`, or an array of addresses.`,
})

export const TagSchema = Named('EmailTag', {
  name: Type.String({ description: '1 to 256 letters, digits, hyphens and underscores.' }),
  value: Type.String({ description: `At most ${tagLengthMax} characters.` }),
})

export const EmailIn = Type.Object(
  {
    from: Type.String({ description: 'The sender: `news@example.com` or `Example <news@example.com>`.' }),
    to: Addresses,
    cc: Type.Optional(Nullable(Addresses)),
    bcc: Type.Optional(Nullable(Addresses)),
    reply_to: Type.Optional(Nullable(Addresses)),
    subject: Type.String({ description: `One line of at most ${subjectLengthMax} characters.` }),
    html: Type.Optional(Nullable(Type.String({ description: 'At most 1 MB.' }))),
    text: Type.Optional(
      Nullable(
        Type.String({
          description: 'At most 1 MB. Derived from `html` if it is missing; no text part is sent if it is empty.',
        }),
      ),
    ),
    attachments: Type.Optional(Nullable(Type.Array(AttachmentIn, { description: attachmentLimits }))),
    headers: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.String(), {
          description: `At most ${headersMax} headers: names that start with \`X-\`, and Auto-Submitted, Feedback-ID, Importance, In-Reply-To, Keywords, List-Archive, List-Help, List-Id, List-Owner, List-Post, List-Subscribe, List-Unsubscribe, List-Unsubscribe-Post, Organization, Precedence, Priority, References and Sensitivity.`,
        }),
      ),
    ),
    tags: Type.Optional(
      Nullable(
        Type.Array(TagSchema, {
          description: `At most ${tagsMax} tags, which are part of all events of the email.`,
        }),
      ),
    ),
    tracking: Type.Optional(
      Nullable(
        Type.Object(
          {
            opens: Type.Optional(Type.Boolean({ description: 'Whether opens are tracked. Default: true.' })),
            clicks: Type.Optional(Type.Boolean({ description: 'Whether clicks are tracked. Default: true.' })),
          },
          { description: 'What is tracked.' },
        ),
      ),
    ),
    kind: Type.Optional(
      Nullable({
        ...oneOf('transactional', 'marketing'),
        description:
          'A marketing email is sent to subscribed contacts only, and has an unsubscribe link. Default: `transactional`.',
      }),
    ),
    send_at: SendAt,
  },
  { title: 'EmailInput' },
)
export type EmailInput = Static<typeof EmailIn>

const foreignFields = {
  scheduled_at: 'send_at',
  schedule_at: 'send_at',
  scheduled_for: 'send_at',
  deliver_at: 'send_at',
  idempotency_key: 'the header Idempotency-Key',
}
const checkUnknownFields = createUnknownFieldCheck(EmailIn, foreignFields)

/** An email whose text still has to be derived from its HTML. */
export type ParsedEmailRequest = { request: OwnEmail; needsText: boolean; warnings: string[] }

const countOf = (addresses: string | string[] | null | undefined) => (Array.isArray(addresses) ? addresses.length : 1)

/** The number of addresses in To, Cc and Bcc, at least, without parsing any. */
export const addressesIn = ({ to, cc, bcc }: EmailInput): number =>
  countOf(to) + (cc ? countOf(cc) : 0) + (bcc ? countOf(bcc) : 0)

/** Throws `Refusal` if a field is invalid. */
export function parseEmailInput(input: EmailInput, files: ReceivedFiles): ParsedEmailRequest {
  const warnings = checkUnknownFields(input)
  const from = parseMailbox('from', input.from)
  const to = parseMailboxes('to', input.to)
  if (to.length === 0) throw invalid({ path: 'to', problem: 'must have at least 1 address' })
  const cc = parseMailboxes('cc', input.cc)
  const bcc = parseMailboxes('bcc', input.bcc)
  const html = checkBody('html', input.html)
  const text = checkBody('text', input.text)
  if (!html && !text) throw invalid({ path: 'html', problem: 'or text is required' })
  const { attachments, used } = attachmentsOf(input.attachments ?? [], files)
  const { opens = true, clicks = true } = input.tracking ?? {}
  const kind = input.kind ?? 'transactional'
  const details: ContentDetails = {
    kind: 'email',
    from,
    to: to.map(shown),
    cc: cc.map(shown),
    replyTo: parseMailboxes('reply_to', input.reply_to).map(shown),
    headers: checkHeaders(input.headers ?? {}, kind),
    tracking: { opens, clicks },
    attachments,
    raw: null,
  }
  const request: OwnEmail = {
    source: 'content',
    kind,
    recipients: recipientsOf([...to, ...cc, ...bcc]),
    subject: checkSubject(input.subject),
    tags: checkTags(input.tags ?? []),
    sendAt: parseSendAt(input.send_at ?? undefined),
    content: { details, html: html || null, text: text || null, files: used },
  }
  return { request, needsText: text === null, warnings }
}

type ParsedMailbox = Mailbox & EmailAddress

const shown = ({ name, email }: ParsedMailbox): Mailbox => (name ? { name, email } : { email })

/** Whether a text without quotes has an address before and after a comma or semicolon. */
function hasSeveralAddresses(text: string): boolean {
  const end = text.search(/[,;]/)
  return end !== -1 && !text.includes('"') && text.lastIndexOf('@', end) !== -1 && text.includes('@', end)
}

const quotedName = /^"((?:[^"\\]|\\.)*)"$/

/**
 * Returns the parts of `Name <address>`, where the name may be in quotes, or undefined if the text has another form. Linear,
 * unlike an expression for both parts: a name may consist of spaces.
 */
function splitMailbox(text: string): { name: string; address: string } | undefined {
  const start = text.lastIndexOf('<')
  if (start === -1 || text.indexOf('>', start) !== text.length - 1) return undefined
  const before = text.slice(0, start).trimEnd()
  const quoted = quotedName.exec(before)?.[1]
  if (quoted === undefined && /["<>]/.test(before)) return undefined
  const name = quoted?.replace(/\\(.)/g, '$1') ?? before
  return { name: name.trim(), address: text.slice(start + 1, -1) }
}

export function parseMailbox(path: string, input: string): ParsedMailbox {
  const wrong = (problem: string) => invalid({ path, problem })
  const text = input.trim()
  if (isLongerThan(text, mailboxLengthMax)) throw wrong(`must have at most ${mailboxLengthMax} characters`)
  if (hasControls(text)) throw wrong('must not contain line breaks or other control characters')
  const several = () => hasSeveralAddresses(text) && 'must be one address. Use an array for several'
  const split = splitMailbox(text)
  if (!split && /[<>]/.test(text))
    throw wrong(several() || 'must be an address, or a name followed by an address: Ada <ada@example.com>')
  const name = split?.name ?? ''
  if (isLongerThan(name, nameLengthMax)) throw wrong(`must have a name of at most ${nameLengthMax} characters`)
  if (!isStorable(name)) throw wrong(unstorableProblem)
  const parsed = parseEmail(split?.address ?? text)
  if (!parsed.ok) throw wrong(several() || parsed.problem)
  return { name: name || null, email: parsed.address, emailKey: parsed.key }
}

function parseMailboxes(path: string, input: string | string[] | null | undefined): ParsedMailbox[] {
  if (input === null || input === undefined) return []
  if (typeof input === 'string') return [parseMailbox(path, input)]
  if (input.length > recipientsMax) throw invalid({ path, problem: `must have at most ${recipientsMax} addresses` })
  return input.map((each, index) => parseMailbox(`${path}.${index}`, each))
}

function recipientsOf(mailboxes: readonly ParsedMailbox[]): EmailAddress[] {
  const distinct = new Map<string, EmailAddress>()
  for (const { email, emailKey } of mailboxes) if (!distinct.has(emailKey)) distinct.set(emailKey, { email, emailKey })
  if (distinct.size > recipientsMax)
    throw invalid({ path: 'to', problem: `must have at most ${recipientsMax} addresses together with cc and bcc` })
  return [...distinct.values()]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const hasControls = (text: string) => controls.test(text)

function checkSubject(subject: string): string {
  const wrong = (problem: string) => invalid({ path: 'subject', problem })
  const text = subject.trim()
  if (text === '') throw wrong('must not be empty')
  if (isLongerThan(text, subjectLengthMax)) throw wrong(`must have at most ${subjectLengthMax} characters`)
  if (hasControls(text)) throw wrong('must be one line')
  if (!isStorable(text)) throw wrong(unstorableProblem)
  return text
}

/** Returns null if the body is missing. */
function checkBody(path: 'html' | 'text', body: string | null | undefined): string | null {
  if (body === null || body === undefined) return null
  if (Buffer.byteLength(body) > bodyBytesMax) throw invalid({ path, problem: 'must have at most 1 MB' })
  if (!isStorable(body)) throw invalid({ path, problem: unstorableProblem })
  return body
}

const allowedHeaders = new Set(
  `auto-submitted feedback-id importance in-reply-to keywords list-archive list-help list-id list-owner list-post
  list-subscribe list-unsubscribe list-unsubscribe-post organization precedence priority references sensitivity`.split(
    /\s+/,
  ),
)
const ownFields = new Map([
  ...['from', 'to', 'cc', 'bcc', 'subject'].map((name) => [name, name] as const),
  ['reply-to', 'reply_to'],
])
const headerName = /^[A-Za-z][A-Za-z\d-]{0,75}$/

function checkHeaders(headers: Record<string, string>, kind: 'transactional' | 'marketing'): ContentDetails['headers'] {
  const entries = Object.entries(headers)
  if (entries.length > headersMax)
    throw invalid({ path: 'headers', problem: `must have at most ${headersMax} entries` })
  const seen = new Set<string>()
  return entries.map(([name, value]) => {
    const key = name.toLowerCase()
    const wrong = (problem: string) => invalid({ path: `headers.${name.slice(0, 100)}`, problem })
    if (!headerName.test(name)) throw wrong('is not a valid header name')
    if (!(allowedHeaders.has(key) || (key.startsWith('x-') && !key.startsWith('x-waxwing') && !instructsRelay(key))))
      throw wrong(
        ownFields.has(key)
          ? `is not allowed. Use the field ${ownFields.get(key)}`
          : 'is not allowed: the service sets it, or it has no effect. Use a header that starts with X-',
      )
    if (kind === 'marketing' && key.startsWith('list-unsubscribe'))
      throw wrong('is set by the service for marketing email')
    if (seen.has(key)) throw wrong('must occur once')
    seen.add(key)
    if (isLongerThan(value, headerLengthMax)) throw wrong(`must have at most ${headerLengthMax} characters`)
    if (hasControls(value)) throw wrong('must not contain line breaks or other control characters')
    if (!isStorable(value)) throw wrong(unstorableProblem)
    return { name, value }
  })
}

/** Throws `Refusal` if a tag is invalid. */
export function checkTags(tags: readonly Tag[]): Tag[] {
  if (tags.length > tagsMax) throw invalid({ path: 'tags', problem: `must have at most ${tagsMax} elements` })
  return tags.map(({ name, value }, index) => {
    if (!/^[\w-]{1,256}$/.test(name))
      throw invalid({ path: `tags.${index}.name`, problem: 'must consist of 1 to 256 letters, digits, - and _' })
    if (isLongerThan(value, tagLengthMax) || hasControls(value) || !isStorable(value))
      throw invalid({ path: `tags.${index}.value`, problem: `must be one line of at most ${tagLengthMax} characters` })
    return { name, value }
  })
}
