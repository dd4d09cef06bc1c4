import { randomUUID } from 'node:crypto'
import { asciiDomain } from '../../platform/values/domain.ts'
import { invalid } from '../../platform/values/errors.ts'

export type Mailbox = { name?: string | null; email: string }

/** The limit of RFC 2047 for lines with encoded words. Other lines are folded there if they contain a space. */
const lineLengthMax = 76
const wordLengthMax = 900
const quotedNameLengthMax = 60
const localPartLengthMax = 64
const emailLengthMax = 254

/** Returns the text on one line without control characters. This prevents header injection. */
export function headerText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  return text.replace(/[\u0000-\u0020\u007f-\u009f\u2028\u2029]+/g, ' ').trim()
}

/** Returns a header with unstructured text. */
export function textHeader(name: string, value: string): string {
  const text = headerText(value)
  const line = `${name}: ${text}`
  if (!isPlain(text)) return `${name}: ${encodedWords(text, name.length + 2)}`
  return line.length <= lineLengthMax ? line : foldedAtSpaces(line)
}

/** Returns a header with one address and its display name. `address` is the result of `toEmailAddress`, if it is known. */
export function mailboxHeader(header: string, { name, email }: Mailbox, address = toEmailAddress(email, header)) {
  const phrase = name ? phraseOf(headerText(name), header.length + 2) : ''
  if (phrase === '') return `${header}: ${address}`
  const lastLine = phrase.slice(phrase.lastIndexOf('\n') + 1)
  const fits = lastLine.length + (phrase === lastLine ? header.length + 2 : 0) + address.length + 3 <= lineLengthMax
  return `${header}: ${phrase}${fits ? ' ' : '\r\n '}<${address}>`
}

/** Returns a header with one or more addresses, each on a line of its own. */
export const mailboxListHeader = (header: string, mailboxes: readonly Mailbox[]): string =>
  `${header}: ${mailboxes
    .map((mailbox, index) => mailboxHeader(index === 0 ? header : '', mailbox).replace(/^[^:]*: /, ''))
    .join(',\r\n ')}`

/** Returns true if a header may contain the text as it is, without being mistaken for an encoded word. */
function isPlain(text: string): boolean {
  if (!/^[\x20-\x7e]*$/.test(text) || text.includes('=?')) return false
  return text.length <= wordLengthMax || text.split(' ').every((word) => word.length <= wordLengthMax)
}

function foldedAtSpaces(line: string): string {
  const lines: string[] = []
  let current = ''
  for (const [index, word] of line.split(' ').entries()) {
    // The header's name and the first word of its value stay together.
    if (index > 1 && current.length + 1 + word.length > lineLengthMax) {
      lines.push(current)
      current = ''
    }
    current = index === 0 ? word : `${current} ${word}`
  }
  return [...lines, current].join('\r\n')
}

function phraseOf(name: string, used: number): string {
  if (/^[\w!#$%&'*+/?^`{|}~ -]+$/.test(name))
    return name.length <= quotedNameLengthMax ? name : encodedWords(name, used)
  if (isPlain(name) && name.length <= quotedNameLengthMax) return `"${name.replace(/["\\]/g, '\\$&')}"`
  return encodedWords(name, used)
}

const wordOverhead = '=?UTF-8?B??='.length
const wordBytesMax = 45

/** RFC 2047 in base64, without splitting characters. `used` is the number of characters already on the first line. */
function encodedWords(text: string, used: number): string {
  if (text === '') return ''
  const words: string[] = []
  let chunk = ''
  let bytes = 0
  let room = Math.floor((lineLengthMax - used - wordOverhead) / 4) * 3
  for (const character of text) {
    const size = Buffer.byteLength(character)
    if (bytes + size > room) {
      words.push(encodedWord(chunk))
      chunk = ''
      bytes = 0
      room = wordBytesMax
    }
    chunk += character
    bytes += size
  }
  return [...words, encodedWord(chunk)].join('\r\n ')
}

const encodedWord = (text: string) => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`

/**
 * Returns an address as written in SMTP and headers: the domain in ASCII, the local part quoted if necessary. Throws
 * `Refusal` with the path `field` if the address cannot be used.
 */
export function toEmailAddress(email: string, field: string): string {
  const at = email.lastIndexOf('@')
  const local = email.length <= emailLengthMax ? toLocalPart(email.slice(0, Math.max(at, 0))) : undefined
  const domain = local && asciiDomain(email.slice(at + 1))
  const address = `${local}@${domain}`
  if (!local || !domain || local.length > localPartLengthMax || address.length > emailLengthMax)
    throw invalid({ path: field.toLowerCase(), problem: 'is not a valid email address' })
  return address
}

function toLocalPart(local: string): string | undefined {
  if (/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(local)) return local
  if (/^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(local)) return local
  return /^[\x20-\x7e]+$/.test(local) ? `"${local.replace(/["\\]/g, '\\$&')}"` : undefined
}

export const dateHeader = (ms: number): string => `Date: ${new Date(ms).toUTCString().replace('GMT', '+0000')}`

/** Returns a random Message-ID for an email with this sender. */
export const newMessageIdHeader = (sender: string): string =>
  `Message-ID: <${randomUUID()}@${sender.slice(sender.lastIndexOf('@') + 1)}>`
