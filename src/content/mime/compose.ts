import { rememberLast } from '../../platform/runtime/remember-last.ts'
import { asciiDomain } from '../../platform/values/domain.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type EmailId, type MessageId, toText } from '../../platform/values/ids.ts'
import { type AttachmentHeaders, attachmentHeaders } from './attachment-headers.ts'
import {
  dateHeader,
  headerText,
  type Mailbox,
  mailboxHeader,
  mailboxListHeader,
  textHeader,
  toEmailAddress,
} from './headers.ts'
import type { FilePiece, Piece } from './pieces.ts'
import { encodeText, type FilledText } from './text-form.ts'

const rawLengthMax = 10_000_000

export type Email = {
  id: MessageId
  /** Names the email in its Message-ID, if it has several recipients: all of them get the same Message-ID. */
  sharedId?: EmailId
  /** The domain of the Message-ID, usually that of the sender. */
  domain: string
  from: Mailbox
  /** The recipient. */
  to: Mailbox
  /** The headers To and Cc, if they are the same for several recipients. */
  shown?: { to: readonly Mailbox[]; cc: readonly Mailbox[] }
  replyTo?: readonly Mailbox[]
  subject: string
  html: string | FilledText
  text: string | FilledText
  date: Date
  /** For marketing email: the page, which accepts the one-click POST, and an address for unsubscribe emails. */
  unsubscribe?: { url: string; email?: string | null }
  /** Additional headers, such as Feedback-ID. */
  headers?: Readonly<Record<string, string>>
}

/** An email with only one of the two bodies, or with attachments. */
export type EmailInPieces = Omit<Email, 'html' | 'text'> & {
  html: string | FilledText | null
  text: string | FilledText | null
  attachments: readonly (AttachmentHeaders & { file: FilePiece })[]
}

export type ComposedEmail = {
  /** The complete message in ASCII with CRLF line endings. No line starts with a dot. */
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
  const { id, headers, recipient, messageIdHeader } = headOf(email)
  // `=_` cannot occur in quoted-printable text, so no such body can contain the boundary.
  const boundary = `=_${id}`
  // Concatenated, so that the constant texts of a layout are copied only when the email is written to the socket.
  let raw = ''
  for (const header of headers) raw += `${header}\r\n`
  raw += `MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n`
  raw += `--${boundary}\r\n`
  raw += bodyPart('text/plain', email.text, boundary)
  raw += `--${boundary}\r\n`
  raw += bodyPart('text/html', email.html, boundary)
  raw += `--${boundary}--\r\n`
  if (raw.length > rawLengthMax)
    throw new Refusal('payload_too_large', `The email is larger than ${rawLengthMax / 1_000_000} MB.`)
  return { raw, recipient, messageIdHeader }
}

/** Like `compose`, for emails with attachments. The files are read when the email is sent. */
export function composePieces(email: EmailInPieces): Omit<ComposedEmail, 'raw'> & { pieces: Piece[] } {
  const { id, headers, recipient, messageIdHeader } = headOf(email)
  const isInline = ({ contentId }: AttachmentHeaders) => contentId !== null && email.html !== null
  const inline = email.attachments.filter(isInline)
  const attached = email.attachments.filter((attachment) => !isInline(attachment))
  const body = multipart('mixed', `=_m_${id}`, [
    multipart('related', `=_r_${id}`, [bodies(email, `=_${id}`), ...inline.map(filePart)]),
    ...attached.map(filePart),
  ])
  const pieces = [...headers, 'MIME-Version: 1.0', ''].join('\r\n')
  return { pieces: joined([pieces, ...body]), recipient, messageIdHeader }
}

/** A part of an email: its headers, an empty line, its content, and a line ending. */
type Part = Piece[]

/** Returns the only part as it is. */
function multipart(subtype: string, boundary: string, parts: readonly Part[]): Part {
  if (parts.length === 1) return parts[0]!
  return [
    `Content-Type: multipart/${subtype};\r\n boundary="${boundary}"\r\n\r\n`,
    ...parts.flatMap((part) => [`--${boundary}\r\n`, ...part]),
    `--${boundary}--\r\n`,
  ]
}

function bodies({ html, text }: EmailInPieces, boundary: string): Part {
  const parts = [
    ...(text === null ? [] : [textPart('text/plain', text)]),
    ...(html === null ? [] : [textPart('text/html', html)]),
  ]
  return multipart('alternative', boundary, parts.length > 0 ? parts : [textPart('text/plain', '')])
}

// No boundary occurs in a body without `=_`.
const textPart = (type: string, text: string | FilledText): Part => [bodyPart(type, text, '=_')]

function bodyPart(type: string, text: string | FilledText, boundary: string): string {
  const { encoding, body } = encodeText(text, boundary)
  return `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
}

function filePart({ file, ...headers }: EmailInPieces['attachments'][number]): Part {
  const head = `${attachmentHeaders(headers).join('\r\n')}\r\n\r\n`
  return file.end > file.start ? [head, file] : [`${head}\r\n`]
}

/** Joins consecutive texts. */
export function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') all[all.length - 1] = last + piece
    else all.push(piece)
  }
  return all
}

/** Returns the headers of an email, without those that describe its body. */
export function headOf(email: Omit<Email, 'html' | 'text'>) {
  const id = toText('msg', email.id)
  const domain = domainOf(email.domain)
  if (!domain) throw new Refusal('validation_failed', 'The domain of the Message-ID is not valid.')
  const messageIdHeader = `<${email.sharedId ? toText('eml', email.sharedId) : id}@${domain}>`
  const recipient = toEmailAddress(email.to.email, 'To')
  return { id, headers: headersOf(email, recipient, messageIdHeader), recipient, messageIdHeader }
}

// The emails of a broadcast have these in common.
const domainOf = rememberLast(asciiDomain)
const fromHeader = rememberLast((name: string | null, email: string) => mailboxHeader('From', { name, email }))
const subjectHeader = rememberLast((subject: string) => textHeader('Subject', subject))
// By the second: chunks of a broadcast that are sent at the same time differ in milliseconds.
const lastDateHeader = rememberLast((seconds: number) => dateHeader(seconds * 1_000))

function headersOf(email: Omit<Email, 'html' | 'text'>, recipient: string, messageIdHeader: string): string[] {
  const headers = [
    fromHeader(email.from.name ?? null, email.from.email),
    ...(email.shown ? shownHeaders(email.shown) : [mailboxHeader('To', email.to, recipient)]),
    subjectHeader(email.subject),
    lastDateHeader(Math.floor(email.date.getTime() / 1_000)),
    `Message-ID: ${messageIdHeader}`,
  ]
  if (email.replyTo && email.replyTo.length > 0) headers.push(mailboxListHeader('Reply-To', email.replyTo))
  headers.push(...addedHeaders(email))
  return headers
}

/** Returns the headers that do not describe the email itself. */
export function addedHeaders({ unsubscribe, headers }: Pick<Email, 'unsubscribe' | 'headers'>): string[] {
  return [
    ...(unsubscribe ? unsubscribeHeaders(unsubscribe) : []),
    ...Object.entries(headers ?? {}).map(([name, value]) => extraHeader(name, value)),
  ]
}

/** An email that was sent to hidden recipients only needs a To header as well. */
export const shownHeaders = ({ to, cc }: NonNullable<Email['shown']>): string[] => [
  to.length > 0 ? mailboxListHeader('To', to) : 'To: undisclosed-recipients:;',
  ...(cc.length > 0 ? [mailboxListHeader('Cc', cc)] : []),
]

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
