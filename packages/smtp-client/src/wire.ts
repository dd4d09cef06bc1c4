import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Reply, ReplyReader, replyText } from './reply.ts'
import type { SmtpTarget } from './url.ts'

/** Thrown while a connection is being opened; its message is a sentence about the relay. */
export class RelayFault extends Error {}

type Waiting = { timeoutMs: number; resolve: (reply: Reply | undefined) => void }

export type WireEncoding = 'latin1' | 'utf8'

/**
 * A connection as a line of text out and a line of replies in. Replies are awaited in the order of the commands, so
 * any number of commands may be written before the first is answered.
 */
export class SmtpWire {
  /** Called once when the connection breaks, not when it is ended by `quit`. */
  onLost: () => void = () => {}
  readonly #target: SmtpTarget
  #socket: Socket
  #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #headSince = 0
  #timer: NodeJS.Timeout | undefined
  #timerDue = Number.POSITIVE_INFINITY
  #lost: string | undefined
  #outgoing = ''
  #outgoingEncoding: WireEncoding = 'latin1'

  constructor(target: SmtpTarget, socket: Socket) {
    this.#target = target
    this.#socket = socket
    this.#listen()
  }

  /** Why nothing more can be said on this connection; undefined while it can. */
  get lost(): string | undefined {
    return this.#lost
  }

  /**
   * Leaves at the end of this turn of the event loop, with what else was written in it: one piece costs half of two, and
   * the relay is woken once for the mails of all connections. `utf8` only for what is not ASCII, since a piece has one encoding.
   */
  write(text: string, encoding: WireEncoding = 'latin1'): void {
    if (this.#lost !== undefined) return
    if (encoding !== this.#outgoingEncoding) this.#flush()
    if (this.#outgoing === '') setImmediate(this.#flush)
    this.#outgoing += text
    this.#outgoingEncoding = encoding
  }

  readonly #flush = () => {
    const text = this.#outgoing
    this.#outgoing = ''
    if (text !== '' && this.#lost === undefined) this.#socket.write(text, this.#outgoingEncoding)
  }

  /** The next reply that no one awaits yet; undefined when the connection is lost before it comes. */
  reply(timeoutMs: number): Promise<Reply | undefined> {
    if (this.#lost !== undefined) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      if (this.#waiting.push({ timeoutMs, resolve }) === 1) this.#watchHead()
    })
  }

  /** For the opening, where each reply is awaited alone and a lost connection ends the attempt. */
  async ask(command: string, timeoutMs: number): Promise<Reply> {
    this.write(`${command}\r\n`)
    return this.expect(timeoutMs)
  }

  async expect(timeoutMs: number): Promise<Reply> {
    const reply = await this.reply(timeoutMs)
    if (!reply) throw new RelayFault(this.#lost)
    return reply
  }

  /** Call right after the reply to STARTTLS. */
  async startTls(timeoutMs: number, ca: string | undefined): Promise<void> {
    if (this.#lost !== undefined) throw new RelayFault(this.#lost)
    // Whoever sits between could slip replies in before the encryption, to be believed after it.
    if (!this.#reader.empty) throw new RelayFault(`${place(this.#target)} sent clear text behind its reply to STARTTLS`)
    const plain = this.#socket
    plain.off('data', this.#read).off('error', this.#fail).off('end', this.#end).off('close', this.#end)
    this.#socket = connectTls({ socket: plain, ...tlsOptions(this.#target, ca) })
    await opened(this.#socket, 'secureConnect', this.#target, timeoutMs)
    this.#listen()
  }

  /** Ends the connection at once. Everyone still waiting gets no reply. */
  lose(because: string): void {
    if (this.#lost !== undefined) return
    this.#lost = because
    clearTimeout(this.#timer)
    this.#socket.destroy()
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve } of waiting) resolve(undefined)
    this.onLost()
  }

  /** Says goodbye without waiting for the answer. */
  quit(): void {
    if (this.#lost !== undefined) return
    this.#flush()
    this.#socket.end('QUIT\r\n')
    // The other side's answer and end are drained by the listeners; one that never ends is cut off.
    this.#lost = 'the connection was closed'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#socket.destroy(), quitMs).unref()
  }

  #listen(): void {
    this.#socket.on('data', this.#read).on('error', this.#fail).on('end', this.#end).on('close', this.#end)
  }

  readonly #fail = (error: Error) => this.lose(describe(error, this.#target))

  readonly #end = () => this.lose(`${place(this.#target)} closed the connection`)

  readonly #read = (chunk: Buffer) => {
    if (this.#lost !== undefined) return
    const fault = this.#reader.read(chunk, this.#take)
    if (fault) this.lose(`${place(this.#target)} cannot be understood: ${fault}`)
  }

  readonly #take = (reply: Reply) => {
    if (this.#lost !== undefined) return
    const first = this.#waiting.shift()
    first?.resolve(reply)
    // 421 says that the relay is about to close, whatever the command was.
    if (reply.code === 421) this.lose(`${place(this.#target)} closed the connection: ${replyText(reply)}`)
    else if (!first) this.lose(`${place(this.#target)} spoke out of turn: ${replyText(reply)}`)
    else this.#watchHead()
  }

  /**
   * The clock runs for the oldest reply that is owed. One timer a connection, which is left to fire too early rather
   * than set anew for each reply: thousands of mails pass while it runs.
   */
  #watchHead(): void {
    const [head] = this.#waiting
    if (!head) return
    this.#headSince = performance.now()
    if (this.#headSince + head.timeoutMs < this.#timerDue) this.#arm(head.timeoutMs)
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer)
    this.#timerDue = performance.now() + ms
    this.#timer = setTimeout(() => this.#checkHead(), Math.ceil(ms))
  }

  #checkHead(): void {
    this.#timerDue = Number.POSITIVE_INFINITY
    const [head] = this.#waiting
    if (!head) return
    const leftMs = this.#headSince + head.timeoutMs - performance.now()
    if (leftMs > 0) this.#arm(leftMs)
    else this.lose(`${place(this.#target)} did not answer within ${head.timeoutMs / 1000} s`)
  }
}

const quitMs = 2_000

/** Opens the socket, with TLS from the start for smtps. */
export async function openSocket(target: SmtpTarget, timeoutMs: number, ca: string | undefined): Promise<Socket> {
  const { host, port } = target
  const implicit = target.tls === 'implicit'
  const socket = implicit ? connectTls({ port, ...tlsOptions(target, ca) }) : connectTcp({ host, port })
  await opened(socket, implicit ? 'secureConnect' : 'connect', target, timeoutMs)
  // Without this the end of a mail waits for the acknowledgement of its beginning.
  socket.setNoDelay(true)
  return socket
}

function tlsOptions(target: SmtpTarget, ca: string | undefined) {
  return {
    host: target.host,
    rejectUnauthorized: target.verifyCertificate,
    ...(isIP(target.host) ? {} : { servername: target.host }),
    ...(ca === undefined ? {} : { ca }),
  }
}

/** Waits until the socket is ready; one that fails or takes too long is destroyed. */
function opened(socket: Socket, event: string, target: SmtpTarget, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const ready = () => settle()
    const failed = (error: Error) => settle(describe(error, target))
    const closed = () => settle(`${place(target)} closed the connection`)
    const timer = setTimeout(() => settle(`${place(target)} did not answer within ${timeoutMs / 1000} s`), timeoutMs)
    const settle = (fault?: string) => {
      clearTimeout(timer)
      socket.off(event, ready).off('error', failed).off('close', closed)
      if (fault === undefined) return resolve()
      socket.on('error', () => {})
      socket.destroy()
      reject(new RelayFault(fault))
    }
    socket.once(event, ready).once('error', failed).once('close', closed)
  })
}

export const place = (target: SmtpTarget) =>
  target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`

function describe(error: NodeJS.ErrnoException, target: SmtpTarget): string {
  // A name with several addresses fails with one error for each; the first says enough.
  const cause = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : error
  switch (cause.code) {
    case 'ECONNREFUSED':
      return `${place(target)} refused the connection`
    case 'ECONNRESET':
    case 'EPIPE':
      return `${place(target)} reset the connection`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${target.host} was not found`
    default:
      return `${place(target)} cannot be used: ${cause.message}`
  }
}
