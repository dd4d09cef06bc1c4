import { anyPattern } from './rule-usage.ts'

const linesMax = 4000
const lineCharsMax = 1000
const headerWithinLines = 8
const headersInARow = 3

export type Notice = {
  /** The text of the mail system. */
  words: string
  /** The returned message below it, where it was pasted into the text. */
  returned: string
}

/** Separates the words of the mail system from a returned message pasted below them. */
export function splitNotice(text: string): Notice {
  const lines = text.split('\n', linesMax).map((line) => line.slice(0, lineCharsMax))
  const announced = lines.findIndex((line, index) => isAnnouncement(line) && hasHeaderSoon(lines, index + 1))
  const cut = announced >= 0 ? announced : findHeaderBlock(lines)
  if (cut < 0) return { words: lines.join('\n'), returned: '' }
  return { words: lines.slice(0, cut).join('\n'), returned: lines.slice(announced >= 0 ? cut + 1 : cut).join('\n') }
}

// Lines that announce the returned message, in the words of many systems.
const announcements = [
  /^[-_=*|\s>]*(?:the |your )?(?:original|unsent|undelivered|returned|failed) (?:message|mail)(?: (?:headers?|text|header text|body|details))?(?:(?: as)? follows?| below)?[-_=*|\s:.]*$/i,
  /^[-_=*|\s]*(?:this|below|here|attached|included|following)\b.{0,40}\b(?:copy|headers?)\b.{0,40}\b(?:message|mail|e-mail|email)\b/i,
  /^[-_=*|\s]*(?:the )?(?:message )?headers?\b.{0,30}\b(?:follow|message is following|original message)/i,
  /^[-_=*|\s]*-{2,} ?(?:begin |start )?(?:of )?(?:message (?:text|headers?|follows|body)|headers?|returned|forwarded|original|ursprüngliche)\b.{0,40}-{2,}/i,
  /^\s*(?:intestazioni originali|en-têtes (?:de message|d'origine)|encabezados? (?:de mensaje )?originales?|cabeçalhos originais|ursprüngliche nachrichten?köpfe|元のメッセージ|исходные заголовки)/i,
]

const isAnnouncement = (line: string) => anyPattern(announcements, line)

function hasHeaderSoon(lines: string[], from: number): boolean {
  const soon = lines.slice(from, from + headerWithinLines)
  return soon.some((line) => mailHeaders.has(headerName(line.trimStart()))) || soon.every((line) => line.trim() === '')
}

const mailHeaders = new Set([
  'received',
  'return-path',
  'message-id',
  'from',
  'to',
  'subject',
  'date',
  'mime-version',
  'content-type',
])
const distinctiveHeaders = ['received', 'message-id', 'mime-version', 'return-path']

const headerName = (line: string) => /^([a-z][\w-]{1,60}):(?:\s|$)/i.exec(line)?.[1]?.toLowerCase() ?? ''

/** A block of mail headers starts a returned message, announced or not. */
function findHeaderBlock(lines: string[]): number {
  let start = -1
  const seen = new Set<string>()
  for (const [index, line] of lines.entries()) {
    const name = headerName(line)
    if (name !== '') {
      if (start < 0) start = index
      if (mailHeaders.has(name)) seen.add(name)
      if (seen.size >= headersInARow && distinctiveHeaders.some((name) => seen.has(name))) return start
    } else if (start < 0 || !/^[ \t]+\S/.test(line)) {
      start = -1
      seen.clear()
    }
  }
  return -1
}
