import { Refusal } from '../values/errors.ts'
import { type MessageId, toText } from '../values/ids.ts'
import { encodeBody } from './body-encoding.ts'
import { headerText, type Mailbox, mailboxHeader, textHeader, toAsciiDomain, toMailAddress } from './headers.ts'

const rawLengthMax = 10_000_000

export type Mail = {
  id: MessageId
  /** The right side of the Message-ID: the sender's domain, usually. */
  domain: string
  from: Mailbox
  to: Mailbox
  replyTo?: Mailbox | null
  subject: string
  html: string
  text: string
  date: Date
  /** On marketing mail: the page that also takes the one-click POST, and an address where mail can be received. */
  unsubscribe?: { url: string; email?: string | null }
  /** More headers, such as Feedback-ID. */
  headers?: Readonly<Record<string, string>>
}

export type ComposedMail = {
  /** The whole message in ASCII, lines ended by CRLF, dots not yet doubled for SMTP. */
  raw: string
  /** The recipient as the envelope needs it. */
  recipient: string
  /** With its angle brackets, as replies and bounces quote it. */
  messageIdHeader: string
}

/**
 * Builds the message. The same mail gives the same bytes, so that one sent a second time after a crash is seen to be the
 * same. Values are made fit for their place; what cannot be, such as an address with a line break, is refused.
 */
export function compose(mail: Mail): ComposedMail {
  const id = toText('msg', mail.id)
  const domain = toAsciiDomain(mail.domain)
  if (!domain) throw new Refusal('validation_failed', 'The domain of the Message-ID is not a domain.')
  const messageIdHeader = `<${id}@${domain}>`
  // `=_` cannot occur in quoted-printable text, so no such body can contain the boundary.
  const boundary = `=_${id}`
  const raw = [
    ...headersOf(mail, messageIdHeader),
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative;',
    ` boundary="${boundary}"`,
    '',
    ...part(boundary, 'text/plain', mail.text),
    ...part(boundary, 'text/html', mail.html),
    `--${boundary}--`,
    '',
  ].join('\r\n')
  if (raw.length > rawLengthMax)
    throw new Refusal('payload_too_large', `The mail has more than ${rawLengthMax / 1_000_000} MB.`)
  return { raw, recipient: toMailAddress(mail.to.email, 'To'), messageIdHeader }
}

function headersOf(mail: Mail, messageIdHeader: string): string[] {
  const headers = [
    mailboxHeader('From', mail.from),
    mailboxHeader('To', mail.to),
    textHeader('Subject', mail.subject),
    `Date: ${mail.date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${messageIdHeader}`,
  ]
  if (mail.replyTo) headers.push(mailboxHeader('Reply-To', mail.replyTo))
  if (mail.unsubscribe) headers.push(...unsubscribeHeaders(mail.unsubscribe))
  for (const [name, value] of Object.entries(mail.headers ?? {})) headers.push(extraHeader(name, value))
  return headers
}

function unsubscribeHeaders({ url, email }: NonNullable<Mail['unsubscribe']>): string[] {
  if (!/^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]+$/.test(url))
    throw new Refusal('validation_failed', 'The address to unsubscribe at is not a URL.')
  const mailto = email ? `,\r\n <mailto:${toMailAddress(email, 'List-Unsubscribe')}?subject=unsubscribe>` : ''
  return [`List-Unsubscribe: <${url}>${mailto}`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
}

function extraHeader(name: string, value: string): string {
  if (!/^[A-Za-z][A-Za-z\d-]{0,75}$/.test(name))
    throw new Refusal('validation_failed', `"${headerText(name)}" is no name for a header.`)
  return textHeader(name, value)
}

function part(boundary: string, type: string, text: string): string[] {
  const { encoding, body } = encodeBody(text, boundary)
  return [`--${boundary}`, `Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`, '', body]
}
