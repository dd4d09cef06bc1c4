/** A reply of one or more lines. Codes are 200 to 599. */
export type Reply = { code: number; lines: string[] }

// RFC 5321 requires 512 bytes per line; a long EHLO reply or policy text takes a few kilobytes.
const replyBytesMax = 16_384

/** Parses a stream of bytes into replies. Invalid or endless input is an error. */
export class ReplyReader {
  #rest = ''
  #lines: string[] = []
  #lineBytes = 0

  /** True if no byte of another reply has arrived. */
  get empty(): boolean {
    return this.#rest === '' && this.#lines.length === 0
  }

  /** Calls `onReply` for each complete reply. Returns an error message if the input is invalid. */
  read(chunk: Buffer, onReply: (reply: Reply) => void): string | undefined {
    const text = this.#rest + chunk.toString('latin1')
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = text.slice(start, text.charCodeAt(end - 1) === carriageReturn && end > start ? end - 1 : end)
      start = end + 1
      if (!replyLine.test(line)) return `it does not speak SMTP: ${visible(line)}`
      this.#lineBytes += line.length
      if (this.#lineBytes > replyBytesMax) return tooLong
      this.#lines.push(toUtf8(line.slice(4)))
      if (line.charCodeAt(3) === hyphen) continue
      const reply = { code: Number(line.slice(0, 3)), lines: this.#lines }
      this.#lines = []
      this.#lineBytes = 0
      onReply(reply)
    }
    this.#rest = text.slice(start)
    return this.#lineBytes + this.#rest.length > replyBytesMax ? tooLong : undefined
  }
}

const carriageReturn = 13
const hyphen = 45
const replyLine = /^[2-5][0-9]{2}(?:[ -]|$)/
const tooLong = `its reply is longer than ${replyBytesMax} bytes`

const toUtf8 = (latin1: string) =>
  /[\u0080-\u00ff]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1

const visibleMax = 200
const visible = (line: string) => JSON.stringify(line.slice(0, visibleMax).replace(/[^ -~]/g, '?'))

/** What follows is neither classified nor stored. A line has at most 512 bytes (RFC 5321). */
export const replyCharsMax = 1_000

/** Returns the start of the reply on one line, for example `550 5.1.1 No such user`. */
export function replyText({ code, lines }: Reply): string {
  const text = `${code} ${lines.join(' ')}`.slice(0, replyCharsMax)
  if (plainReply.test(text)) return text
  return text
    .replace(halfPair, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trimEnd()
}

/** Of nearly all emails, and found out in a tenth of the time. */
const plainReply = /^[!-~]+(?: [!-~]+)*$/
const halfPair = /[\ud800-\udbff]$/

/**
 * Returns the enhanced status code (RFC 3463) at the start of the text, or null if it does not match the reply code.
 */
export function statusOf(reply: Reply): string | null {
  const status = /^[245]\.[0-9]{1,3}\.[0-9]{1,3}(?= |$)/.exec(reply.lines[0] ?? '')?.[0]
  return status?.startsWith(String(reply.code).slice(0, 1)) ? status : null
}

// Postfix, Exim, Sendmail, Exchange, Amazon SES, in this order.
const queueIds = [
  /\bqueued as <?([\w.+/=-]+)/i,
  /\bid=([\w.-]+)/i,
  /^([\w.-]+) Message accepted for delivery/i,
  /\[InternalId=(\d+)/i,
  /^Ok ([\w-]{20,})$/i,
]

/**
 * Returns the relay's queue id of an accepted email, which identifies its bounces, or null if the reply contains none.
 */
export function queueIdOf(reply: Reply): string | null {
  const text = (reply.lines.at(-1) ?? '').slice(0, replyCharsMax).replace(/^2\.\d{1,3}\.\d{1,3} /, '')
  for (const pattern of queueIds) {
    const id = pattern.exec(text)?.[1]
    if (id) return id
  }
  return null
}
