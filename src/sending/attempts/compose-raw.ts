import {
  addedHeaders,
  dateHeader,
  type EmailInPieces,
  joined,
  newMessageIdHeader,
  type Piece,
  parseHeaderFields,
  quotedPrintable,
  toEmailAddress,
} from '../../content/content.ts'
import type { EmailContent, RawPart, RawSource } from '../attachments/content.ts'

type RawEmail = Pick<EmailInPieces, 'to' | 'html' | 'text' | 'unsubscribe' | 'headers'>

/**
 * Returns an email that another program composed, with our headers and with those bodies replaced that differ from it or have
 * lines that mail servers reject.
 */
export function composeRaw(
  email: RawEmail,
  content: Pick<EmailContent, 'html' | 'text'>,
  { headers, bodyHeaders, body, parts }: RawSource,
): { raw: readonly Piece[]; recipient: string } {
  const replaced = parts.filter(({ kind, hasLongLines }) => hasLongLines || email[kind] !== content[kind])
  const isWhole = replaced.some(({ newHeader }) => newHeader === null)
  const describing = isWhole ? newBodyHeaders[replaced[0]!.kind] : bodyHeaders
  const added = addedHeaders(email).map((line) => `${line}\r\n`)
  const pieces: Piece[] = [`${headers}${describing}${added.join('')}\r\n`]
  let at = 0
  const copy = (end: number) => {
    if (end > at) pieces.push({ fileId: body.fileId, start: at, end, encoding: body.isAscii ? '7bit' : '8bit' })
  }
  for (const part of replaced) {
    copy(part.start)
    pieces.push(replacement(part, String(email[part.kind] ?? '')))
    at = part.end
  }
  copy(body.bytes)
  return { raw: joined(pieces), recipient: toEmailAddress(email.to.email, 'To') }
}

const newBodyHeaders = {
  html: 'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n',
  text: 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n',
}

const replacement = ({ newHeader }: RawPart, text: string) =>
  `${newHeader === null ? '' : `${newHeader}\r\n`}${quotedPrintable(text)}`

/** Returns a source for sending the email again. Receivers hide a second email with the same Message-ID. */
export function withNewMessageId(source: RawSource, sender: string, now: Date): RawSource {
  const fields = parseHeaderFields(source.headers.trimEnd()) ?? []
  const kept = fields.filter(({ name }) => name !== 'message-id' && name !== 'date').map((field) => field.source)
  const lines = [...kept, dateHeader(now.getTime()), newMessageIdHeader(sender)]
  return { ...source, headers: lines.map((line) => `${line}\r\n`).join('') }
}
