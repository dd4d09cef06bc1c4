import PostalMime, { type Attachment, decodeWords, type Email } from 'postal-mime'
import { htmlToLines } from './html-lines.ts'

// A bounce begins with the report and ends with the returned message, so truncation loses nothing that is read.
// Lines are bounded too, since the parser's time grows with their square: 10,000 take 0.1 s.
export const mailBytesMax = 512 * 1024
const mailLinesMax = 10_000
const textCharsMax = 256 * 1024
const headerBytesMax = 256 * 1024
const headerCharsMax = 16 * 1024
const nestingDepthMax = 24
const partsMax = 32

export type Header = { name: string; value: string }

/** The parts of a mail that matter in a bounce. Every text is bounded and has `\n` line ends. */
export type MailParts = {
  headers: Header[]
  text: string
  /** message/delivery-status parts: fields in groups, one group for each recipient. */
  deliveryStatus: string[]
  /** message/feedback-report parts. */
  feedbackReports: string[]
  /** The returned message or its headers, where they came as a part of their own. */
  returned: string[]
}

/** Reads arbitrary bytes: input that is not a mail becomes a mail without headers. */
export async function readMail(raw: Uint8Array | string): Promise<MailParts> {
  const bytes = typeof raw === 'string' ? new TextEncoder().encode(raw.slice(0, mailBytesMax)) : raw
  const mail = cut(bytes)
  try {
    const sorted = sortParts(await PostalMime.parse(mail, parseOptions))
    return isEmpty(sorted) ? { ...sorted, text: bodyOf(decode(mail)) } : sorted
  } catch {
    return { headers: [], text: decode(mail), deliveryStatus: [], feedbackReports: [], returned: [] }
  }
}

export function headerValue(headers: Header[], name: string): string {
  return headers.find((header) => header.name === name)?.value ?? ''
}

export function headerValues(headers: Header[], name: string): string[] {
  return headers.filter((header) => header.name === name).map((header) => header.value)
}

const parseOptions = {
  forceRfc822Attachments: true,
  maxNestingDepth: nestingDepthMax,
  maxHeadersSize: headerBytesMax,
} as const

function cut(bytes: Uint8Array): Uint8Array {
  const bounded = bytes.subarray(0, mailBytesMax)
  let end = -1
  for (let line = 0; line < mailLinesMax; line += 1) {
    end = bounded.indexOf(0x0a, end + 1)
    if (end < 0) return bounded
  }
  return bounded.subarray(0, end + 1)
}

/** Returns true if nothing was found between the boundaries that the header names, since they are wrong or missing. */
const isEmpty = ({ text, deliveryStatus, returned }: MailParts) =>
  text.trim() === '' && deliveryStatus.length === 0 && returned.length === 0

const partMarkup = /^(?:--\S{8,}$|content-[\w-]{1,40}:|boundary=|charset=)/i

function bodyOf(mail: string): string {
  const end = mail.indexOf('\n\n')
  const lines = end < 0 ? [] : mail.slice(end + 2).split('\n')
  return lines.filter((line) => !partMarkup.test(line)).join('\n')
}

function sortParts(email: Email): MailParts {
  const mail: MailParts = {
    headers: email.headers.map(({ key, value }) => ({
      name: key,
      value: decodeWords(value.slice(0, headerCharsMax)).slice(0, headerCharsMax),
    })),
    text: ownText(email),
    deliveryStatus: [],
    feedbackReports: [],
    returned: [],
  }
  for (const part of email.attachments.slice(0, partsMax)) {
    switch (part.mimeType) {
      case 'message/delivery-status':
      case 'message/global-delivery-status':
        mail.deliveryStatus.push(contentOf(part))
        break
      case 'message/feedback-report':
        mail.feedbackReports.push(contentOf(part))
        break
      case 'message/disposition-notification':
        // A read receipt: the mail arrived.
        break
      case 'message/rfc822':
      case 'message/global':
      case 'message/global-headers':
      case 'message/partial':
      case 'text/rfc822-headers':
      case 'message/rfc822-headers':
        mail.returned.push(contentOf(part))
        break
      default:
        // A notice may be declared as an attachment or have an unusual text type.
        if (part.mimeType.startsWith('text/') || part.mimeType.startsWith('message/'))
          mail.text += `\n${contentOf(part)}`
    }
  }
  mail.text = mail.text.slice(0, textCharsMax)
  return mail
}

function ownText(email: Email): string {
  const text = email.text?.slice(0, textCharsMax) ?? ''
  const plain = text.trim() === '' && email.html ? htmlToLines(email.html.slice(0, textCharsMax)) : text
  return toLineFeeds(plain)
}

function contentOf(part: Attachment): string {
  return typeof part.content === 'string' ? part.content : decode(new Uint8Array(part.content))
}

/** Decodes valid UTF-8, and anything else as Latin-1: codes and addresses are ASCII in all common charsets. */
function decode(bytes: Uint8Array): string {
  const head = bytes.subarray(0, textCharsMax)
  const text = new TextDecoder('utf-8').decode(head)
  return toLineFeeds(text.includes('\ufffd') ? new TextDecoder('latin1').decode(head) : text)
}

const toLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n')
