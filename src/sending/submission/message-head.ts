import { type Address, addressParser, decodeWords } from 'postal-mime'
import {
  dateHeader,
  describesBody,
  fieldText,
  type HeaderField,
  headerText,
  isAscii,
  type Mailbox,
  mailboxHeader,
  newMessageIdHeader,
  parseHeaderFields,
  textHeader,
} from '../../content/content.ts'
import { instructsRelay } from '../../delivery/delivery.ts'
import { parseEmail } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { isControl } from './control-headers.ts'
import type { SubmissionLimits } from './limits.ts'

/** The header of a submitted email. */
export type MessageHead = {
  fields: readonly HeaderField[]
  from: { name: string | null; email: string }
  /** The address in Sender, if it differs from that in From. */
  sender: string | null
  to: Mailbox[]
  cc: Mailbox[]
  subject: string
  /** Null if the client sent none. */
  messageId: string | null
}

const subjectLengthMax = 998
const messageIdLengthMax = 998
const senderLengthMax = 2_000

/**
 * Addresses and encoded words take time to parse: 8 KiB of them about a millisecond. What an email has beyond this is sent,
 * but not shown, and text beyond ASCII in it is not encoded.
 */
const parsedLengthMax = 8 * 1024
/** Nested groups of addresses, which are invalid, take a hundred times as long. */
const groupsMax = 20

/** Returns a function that returns true while texts of no more than the limit together were passed to it. */
function createBudget(): (text: string) => boolean {
  let left = parsedLengthMax
  return (text) => {
    left -= text.length
    return left >= 0
  }
}

/** RFC 5322 allows one of each. Receivers disagree about which of several counts. */
const uniqueNames = new Set([
  'from',
  'sender',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
])

const rejected = (text: string) => new Refusal('validation_failed', text)

type FieldLimit = Pick<SubmissionLimits, 'headerFieldsMax'>

const tooManyFields = ({ headerFieldsMax }: FieldLimit) =>
  rejected(`The email has more than ${headerFieldsMax} header fields.`)

/** Throws `Refusal` if the start of a header, each of whose fields follows a line ending, has too many fields. */
export function checkFieldCount(start: Buffer, limit: FieldLimit): void {
  let count = 0
  for (let at = start.indexOf('\r\n'); at !== -1 && at + 2 < start.length; at = start.indexOf('\r\n', at + 2)) {
    const isFolded = start[at + 2] === 0x20 || start[at + 2] === 0x09
    if (!isFolded && ++count > limit.headerFieldsMax) throw tooManyFields(limit)
  }
}

/** Parses the header, in which each byte is one character. Throws `Refusal` if the email cannot be sent with it. */
export function readHead(head: string, limit: FieldLimit): MessageHead {
  const fields = head.includes('\0') ? undefined : parseHeaderFields(head)
  if (!fields) throw rejected('The header of the email has a line that is not a header field.')
  if (fields.length > limit.headerFieldsMax) throw tooManyFields(limit)
  const seen = new Set<string>()
  for (const { name } of fields) {
    if (uniqueNames.has(name) && seen.has(name)) throw rejected(`The header ${name} occurs more than once.`)
    seen.add(name)
  }
  const textOf = (name: string) => fields.find((field) => field.name === name)?.value
  const from = readFrom(textOf('from'))
  const sender = readSender(textOf('sender'))
  const messageId = textOf('message-id') || null
  if (messageId !== null && messageId.length > messageIdLengthMax) throw rejected('The Message-ID is too long.')
  const mayParse = createBudget()
  const subject = textOf('subject') ?? ''
  return {
    fields,
    from,
    sender: sender === null || sender.toLowerCase() === from.email.toLowerCase() ? null : sender,
    subject: headerText(mayParse(subject) ? decodeWords(fieldText(subject)) : '').slice(0, subjectLengthMax),
    to: mailboxesOf(fields, 'to', mayParse),
    cc: mailboxesOf(fields, 'cc', mayParse),
    messageId,
  }
}

function readFrom(value: string | undefined): MessageHead['from'] {
  if (!value) throw rejected('The email has no From header.')
  if (value.length > senderLengthMax) throw rejected('The From header is too long.')
  const [first, ...others] = addressParser(fieldText(value), { flatten: true })
  if (!first || others.length > 0) throw rejected('The From header must have exactly one address.')
  const parsed = parseEmail(first.address)
  if (!parsed.ok) throw rejected(`The address in the From header ${parsed.problem}.`)
  return { name: headerText(first.name) || null, email: parsed.address }
}

function readSender(value: string | undefined): string | null {
  if (!value) return null
  if (value.length > senderLengthMax) throw rejected('The Sender header is too long.')
  const [first, ...others] = addressParser(fieldText(value), { flatten: true })
  const parsed = parseEmail(first?.address)
  if (others.length > 0 || !parsed.ok) throw rejected('The Sender header must have exactly one address.')
  return parsed.address
}

const hasManyGroups = (addresses: string) => addresses.split(':', groupsMax + 2).length > groupsMax + 1

/** The addresses that recipients see, as far as they are valid. */
function mailboxesOf(fields: readonly HeaderField[], name: string, mayParse: (text: string) => boolean): Mailbox[] {
  const mailboxes: Mailbox[] = []
  for (const field of fields) {
    if (field.name !== name || !mayParse(field.value) || hasManyGroups(field.value)) continue
    for (const address of addressParser(fieldText(field.value), { flatten: true })) {
      const parsed = parseEmail(address.address)
      if (parsed.ok) mailboxes.push({ name: headerText(address.name) || null, email: parsed.address })
    }
  }
  return mailboxes
}

/**
 * Removed from every email: hidden recipients, traces of the way to us, and signatures, which do not hold for the email
 * as we send it.
 */
const droppedNames = new RegExp(
  `^(?:${[
    ...['bcc', 'resent-bcc', 'return-path', 'received', 'received-spf', 'delivered-to'],
    ...['dkim-signature', 'domainkey-signature', 'arc-.*', 'authentication-results'],
  ].join('|')})$`,
)
const isDropped = ({ name }: HeaderField): boolean => droppedNames.test(name) || instructsRelay(name)

/** Marketing email gets our own. */
const unsubscribeNames = new Set(['list-unsubscribe', 'list-unsubscribe-post'])

/** Header fields, each ending with CRLF. `bodyHeaders` are those that say how the body is encoded. */
export type SentHeaders = { headers: string; bodyHeaders: string }

/**
 * Returns the header fields to send. Fields are sent as they were received, except that From is
 * written again, so that no receiver reads another address in it than the one that was checked, and that text beyond
 * ASCII is encoded, because few mail servers accept it as it is.
 */
export function headersToSend(
  head: MessageHead,
  { isMarketing, now }: { isMarketing: boolean; now: Date },
): SentHeaders {
  const kept = head.fields.filter(
    (field) => !isControl(field) && !isDropped(field) && !(isMarketing && unsubscribeNames.has(field.name)),
  )
  const names = new Set(kept.map(({ name }) => name))
  const mayEncode = createBudget()
  const lines = [
    ...kept
      .filter((field) => !describesBody(field))
      .map((field) => (field.name === 'from' ? mailboxHeader('From', head.from) : asciiField(field, mayEncode))),
    ...(names.has('to') || names.has('cc') ? [] : ['To: undisclosed-recipients:;']),
    ...(names.has('date') ? [] : [dateHeader(now.getTime())]),
    ...(head.messageId === null ? [newMessageIdHeader(head.from.email)] : []),
    ...(names.has('mime-version') ? [] : ['MIME-Version: 1.0']),
  ]
  return {
    headers: joined(lines),
    bodyHeaders: joined(kept.filter(describesBody).map((field) => asciiField(field, mayEncode))),
  }
}

const joined = (lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join('')

const addressNames = new Set(['sender', 'reply-to', 'to', 'cc', 'resent-from', 'resent-to', 'resent-cc'])
const structuredNames = /^(?:message-id|references|in-reply-to|date|content-.*|mime-version)$/

function asciiField(field: HeaderField, mayEncode: (text: string) => boolean): string {
  if (isAscii(field.source)) return field.source
  if (!mayEncode(field.value)) return fieldText(field.source)
  const text = fieldText(field.value)
  const written = field.source.slice(0, field.name.length)
  if (addressNames.has(field.name) && !hasManyGroups(field.value))
    return addressesField(written, addressParser(text, { flatten: true })) ?? fieldText(field.source)
  return structuredNames.test(field.name) ? fieldText(field.source) : textHeader(written, text)
}

/** Returns undefined if an address cannot be written in ASCII. */
function addressesField(name: string, addresses: readonly Address[]): string | undefined {
  try {
    const mailboxes = addresses.map(({ name: shown, address = '' }) =>
      mailboxHeader('', { name: shown, email: address }),
    )
    return `${name}: ${mailboxes.map((line) => line.slice(': '.length)).join(',\r\n ')}`
  } catch {
    return undefined
  }
}
