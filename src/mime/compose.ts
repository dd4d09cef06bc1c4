import { rememberLast } from '../runtime/remember-last.ts'
import { asciiDomain } from '../values/domain.ts'
import { Refusal } from '../values/errors.ts'
import { type MessageId, toText } from '../values/ids.ts'
import { encodeBody } from './body-encoding.ts'
import { headerText, type Mailbox, mailboxHeader, textHeader, toEmailAddress } from './headers.ts'

const rawLengthMax = 10_000_000

export type Email = {
  id: MessageId
  /** The domain of the Message-ID, usually that of the sender. */
  domain: string
  from: Mailbox
  to: Mailbox
  replyTo?: Mailbox | null
  subject: string
  html: string
  text: string
  date: Date
  /** For marketing email: the page, which accepts the one-click POST, and an address for unsubscribe emails. */
  unsubscribe?: { url: string; email?: string | null }
  /** Additional headers, such as Feedback-ID. */
  headers?: Readonly<Record<string, string>>
}

export type ComposedEmail = {
  /** The complete message in ASCII with CRLF line endings, before SMTP dot-stuffing. */
  raw: string
  /** The recipient for the SMTP envelope. */
  recipient: string
  /** The Message-ID with its angle brackets, as replies and bounces quote it. */
  messageIdHeader: string
}

/**
 * Builds the message. The same input yields the same bytes, so that an email sent again after a crash is identical.
 * Values are encoded for their position; throws `Refusal` if that is impossible, for example for an address with a line
 * break.
 */
export function compose(email: Email): ComposedEmail {
  const id = toText('msg', email.id)
  const domain = domainOf(email.domain)
  if (!domain) throw new Refusal('validation_failed', 'The domain of the Message-ID is not valid.')
  const messageIdHeader = `<${id}@${domain}>`
  // `=_` cannot occur in quoted-printable text, so no such body can contain the boundary.
  const boundary = `=_${id}`
  const recipient = toEmailAddress(email.to.email, 'To')
  const raw = [
    ...headersOf(email, recipient, messageIdHeader),
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative;',
    ` boundary="${boundary}"`,
    '',
    ...part(boundary, 'text/plain', email.text),
    ...part(boundary, 'text/html', email.html),
    `--${boundary}--`,
    '',
  ].join('\r\n')
  if (raw.length > rawLengthMax)
    throw new Refusal('payload_too_large', `The email is larger than ${rawLengthMax / 1_000_000} MB.`)
  return { raw, recipient, messageIdHeader }
}

// The emails of a broadcast have these in common.
const domainOf = rememberLast(asciiDomain)
const fromHeader = rememberLast((name: string | null, email: string) => mailboxHeader('From', { name, email }))
const subjectHeader = rememberLast((subject: string) => textHeader('Subject', subject))
const dateHeader = rememberLast((ms: number) => `Date: ${new Date(ms).toUTCString().replace('GMT', '+0000')}`)

function headersOf(email: Email, recipient: string, messageIdHeader: string): string[] {
  const headers = [
    fromHeader(email.from.name ?? null, email.from.email),
    mailboxHeader('To', email.to, recipient),
    subjectHeader(email.subject),
    dateHeader(email.date.getTime()),
    `Message-ID: ${messageIdHeader}`,
  ]
  if (email.replyTo) headers.push(mailboxHeader('Reply-To', email.replyTo))
  if (email.unsubscribe) headers.push(...unsubscribeHeaders(email.unsubscribe))
  for (const [name, value] of Object.entries(email.headers ?? {})) headers.push(extraHeader(name, value))
  return headers
}

function unsubscribeHeaders({ url, email }: NonNullable<Email['unsubscribe']>): string[] {
  if (!/^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]+$/.test(url))
    throw new Refusal('validation_failed', 'The unsubscribe link is not a valid URL.')
  const mailto = email ? `,\r\n <mailto:${toEmailAddress(email, 'List-Unsubscribe')}?subject=unsubscribe>` : ''
  return [`List-Unsubscribe: <${url}>${mailto}`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
}

function extraHeader(name: string, value: string): string {
  if (!/^[A-Za-z][A-Za-z\d-]{0,75}$/.test(name))
    throw new Refusal('validation_failed', `"${headerText(name)}" is not a valid header name.`)
  return textHeader(name, value)
}

function part(boundary: string, type: string, text: string): string[] {
  const { encoding, body } = encodeBody(text, boundary)
  return [`--${boundary}`, `Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`, '', body]
}
