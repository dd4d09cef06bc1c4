import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Instead of a reply: send nothing, reset the connection, or close it cleanly. */
export const hang = Symbol('hang')
export const reset = Symbol('reset')
export const close = Symbol('close')
/** The usual reply, after which nothing more is read. */
export const deaf = Symbol('deaf')
/** A Buffer is sent unchanged, a string as a line. */
export type Answer = string | Buffer | typeof hang | typeof reset | typeof close | typeof deaf

/** `verb` is the first word of the command, `greeting`, or `end` for the end of an email. `nth` counts it from 1. */
export type Step = { verb: string; line: string; nth: number; connection: number }

type RawMail = { from: string; to: string; raw: Buffer }

export type RawSmtp = AsyncDisposable & {
  port: number
  url: string
  /** All commands in the order of arrival. */
  commands: string[]
  /** The commands that arrived in one chunk, joined by spaces: pipelined commands. */
  pieces: string[]
  mails: RawMail[]
  connections(): number
  /** Resets the connections on which a reply was withheld. */
  resetHung(): void
  close(): Promise<void>
}

export type RawSmtpOptions = {
  port?: number
  /** The lines of the EHLO reply after the first one. */
  extensions?: string[]
  /** Undefined means the usual positive reply. */
  answer?: (step: Step) => Answer | undefined
}

const usual: Record<string, string> = {
  greeting: '220 raw.test ESMTP',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 Go on',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 2.0.0 Bye',
  HELO: '250 raw.test',
}

const isYes = (answer: Answer) => typeof answer === 'string' && answer.startsWith('2')

/** A scripted SMTP server that is strict about its input: only CRLF ends a line. */
export async function startRawSmtp(options: RawSmtpOptions = {}): Promise<RawSmtp> {
  const { extensions = ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 1000000', 'ENHANCEDSTATUSCODES'] } = options
  const sockets = new Set<Socket>()
  const hungSockets = new Set<Socket>()
  const counts = new Map<string, number>()
  const log = { commands: [] as string[], pieces: [] as string[], mails: [] as RawMail[] }
  const ehlo = ['raw.test', ...extensions]
    .map((text, i, all) => `250${i < all.length - 1 ? '-' : ' '}${text}`)
    .join('\r\n')
  let connections = 0

  const server = createServer((socket) => {
    const connection = ++connections
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      hungSockets.delete(socket)
    })
    let rest = ''
    let inData = false
    let envelope: { from?: string; to?: string } = {}

    /** The regular reply if the script does not provide one. */
    const usualAnswer = (verb: string, nth: number): string => {
      if (verb === 'EHLO') return ehlo
      if (verb === 'end') return `250 2.0.0 Ok: queued as RAW${nth}`
      if (verb === 'MAIL' && envelope.from !== undefined) return '503 5.5.1 Nested MAIL'
      if (verb === 'RCPT' && envelope.from === undefined) return '503 5.5.1 Need MAIL'
      if (verb === 'DATA' && envelope.to === undefined) return '503 5.5.1 Need RCPT'
      return usual[verb] ?? '500 5.5.2 Unknown command'
    }
    const perform = (verb: string, line: string): Answer => {
      const nth = (counts.get(verb) ?? 0) + 1
      counts.set(verb, nth)
      const scripted = options.answer?.({ verb, line, nth, connection })
      if (scripted === deaf) socket.pause()
      const answer = scripted === undefined || scripted === deaf ? usualAnswer(verb, nth) : scripted
      if (answer === hang) hungSockets.add(socket)
      else if (answer === reset) {
        socket.uncork()
        socket.resetAndDestroy()
      } else if (answer === close) socket.end()
      else socket.write(typeof answer === 'string' ? `${answer}\r\n` : answer)
      return answer
    }
    const readMail = () => {
      const whole = rest.startsWith('.\r\n') ? 0 : rest.indexOf('\r\n.\r\n') + 2
      if (whole === 1) return false
      const text = rest.slice(0, whole).replace(/^\./, '').replaceAll('\r\n.', '\r\n')
      rest = rest.slice(whole + 3)
      inData = false
      const { from, to } = envelope
      if (isYes(perform('end', '.')) && from !== undefined && to !== undefined)
        log.mails.push({ from, to, raw: Buffer.from(text, 'latin1') })
      envelope = {}
      return true
    }
    const readCommand = (verbs: string[]) => {
      const end = rest.indexOf('\r\n')
      if (end < 0) return false
      const line = Buffer.from(rest.slice(0, end), 'latin1').toString('utf8')
      rest = rest.slice(end + 2)
      const verb = line.split(' ')[0]!.toUpperCase()
      log.commands.push(line)
      verbs.push(verb)
      const answer = perform(verb, line)
      const path = /<(.*)>/.exec(line)?.[1] ?? ''
      if (verb === 'MAIL' && isYes(answer)) envelope = { from: path }
      if (verb === 'RCPT' && isYes(answer)) envelope.to = path
      if (verb === 'RSET') envelope = {}
      if (verb === 'DATA' && typeof answer === 'string') inData = answer.startsWith('354')
      if (verb === 'QUIT') socket.end()
      return true
    }

    perform('greeting', '')
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1')
      const verbs: string[] = []
      // Replies to pipelined commands are sent together, as RFC 2920 asks of a server.
      socket.cork()
      while (!hungSockets.has(socket) && (inData ? readMail() : readCommand(verbs)));
      socket.uncork()
      if (verbs.length > 0) log.pieces.push(verbs.join(' '))
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return {
    ...log,
    port,
    url: `smtp://127.0.0.1:${port}`,
    connections: () => connections,
    resetHung: () => {
      for (const socket of hungSockets) socket.resetAndDestroy()
    },
    close: stop,
    [Symbol.asyncDispose]: stop,
  }
}
