import type { Socket } from 'node:net'
import { type Reply, ReplyReader, replyText } from './reply.ts'
import { addressOf, faultOf, RelayFault, secureSocket, type TlsFacts, timeoutOf, tlsFactsOf } from './socket.ts'
import type { SmtpTarget } from './url.ts'

/** Replies to commands that were sent together. */
type PendingReplies = { timeoutMs: number; wanted: number; received: Reply[]; resolve: (received: Reply[]) => void }

export type WireEncoding = 'latin1' | 'utf8'

/**
 * Writes commands and reads replies. Replies are assigned in the order of the commands, so several commands may be
 * written before the first reply.
 */
export class SmtpWire {
  /** Called once when the connection breaks, but not after `quit`. */
  onLost: () => void = () => {}
  readonly #target: SmtpTarget
  #socket: Socket
  #reader = new ReplyReader()
  #waiting: PendingReplies[] = []
  #headSince = 0
  #timer: NodeJS.Timeout | undefined
  #timerDue = Number.POSITIVE_INFINITY
  #lost: string | undefined
  #lostCode: string | undefined
  #outgoing = ''
  #outgoingEncoding: WireEncoding = 'latin1'

  constructor(target: SmtpTarget, socket: Socket) {
    this.#target = target
    this.#socket = socket
    this.#listen()
  }

  /** Why the connection is closed, or undefined while it is open. */
  get lost(): string | undefined {
    return this.#lost
  }

  /** How long the oldest pending reply has been awaited; 0 if none is. */
  get silentMs(): number {
    return this.#waiting.length === 0 ? 0 : performance.now() - this.#headSince
  }

  /**
   * Buffered until the end of this turn of the event loop, because one write costs half as much as two. Use `utf8` only
   * for non-ASCII text, since a write has one encoding.
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

  /**
   * Writes a part of a large email, and waits until the relay has read most of it. Returns false if the connection is
   * lost.
   */
  async writePiece(text: string, timeoutMs: number): Promise<boolean> {
    this.#flush()
    if (this.#lost === undefined && !this.#socket.write(text, 'latin1')) await this.#drained(timeoutMs)
    return this.#lost === undefined
  }

  #drained(timeoutMs: number): Promise<void> {
    const socket = this.#socket
    return new Promise((resolve) => {
      const slow = () => this.lose(`${addressOf(this.#target)} did not read an email within ${timeoutMs / 1000} s`)
      const timer = setTimeout(slow, timeoutMs)
      const settle = () => {
        clearTimeout(timer)
        socket.off('drain', settle).off('close', settle)
        resolve()
      }
      socket.once('drain', settle).once('close', settle)
    })
  }

  /** Returns the reply to the next command, or undefined if the connection is lost before it arrives. */
  reply(timeoutMs: number): Promise<Reply | undefined> {
    return new Promise((resolve) => this.#expect(1, timeoutMs, ([reply]) => resolve(reply)))
  }

  /** Returns the replies to the next `wanted` commands, or fewer if the connection is lost before all have arrived. */
  replies(wanted: number, timeoutMs: number): Promise<Reply[]> {
    return new Promise((resolve) => this.#expect(wanted, timeoutMs, resolve))
  }

  #expect(wanted: number, timeoutMs: number, resolve: PendingReplies['resolve']): void {
    if (this.#lost !== undefined) resolve([])
    else if (this.#waiting.push({ timeoutMs, wanted, received: [], resolve }) === 1) this.#watchHead()
  }

  /** Sends a command of the handshake and returns its reply. Throws `RelayFault` if the connection is lost. */
  async ask(command: string, timeoutMs: number): Promise<Reply> {
    this.write(`${command}\r\n`)
    return this.expect(timeoutMs)
  }

  async expect(timeoutMs: number): Promise<Reply> {
    const reply = await this.reply(timeoutMs)
    if (!reply) throw this.#fault()
    return reply
  }

  #fault(): RelayFault {
    return new RelayFault(this.#lost ?? '', { code: this.#lostCode })
  }

  /** Must be called directly after the reply to STARTTLS. */
  async startTls(timeoutMs: number, ca: string | undefined): Promise<TlsFacts> {
    if (this.#lost !== undefined) throw this.#fault()
    // An attacker could inject replies before TLS, which would be trusted afterwards.
    if (!this.#reader.empty)
      throw new RelayFault(`${addressOf(this.#target)} sent unencrypted data after its reply to STARTTLS`)
    const plain = this.#socket
    plain.off('data', this.#read).off('error', this.#fail).off('end', this.#end).off('close', this.#end)
    const secured = await secureSocket(plain, this.#target, timeoutMs, ca)
    this.#socket = secured
    this.#listen()
    return tlsFactsOf(secured)
  }

  /** Closes the connection immediately. Pending replies resolve with what has arrived. */
  lose(reason: string, code?: string): void {
    if (this.#lost !== undefined) return
    this.#lost = reason
    this.#lostCode = code
    clearTimeout(this.#timer)
    this.#socket.destroy()
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, received } of waiting) resolve(received)
    this.onLost()
  }

  /** Sends QUIT without waiting for the reply. */
  quit(): void {
    if (this.#lost !== undefined) return
    this.#flush()
    this.#socket.end('QUIT\r\n')
    // The listeners read the reply; a connection that the relay does not close is destroyed.
    this.#lost = 'the connection was closed'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#socket.destroy(), quitMs).unref()
  }

  #listen(): void {
    this.#socket.on('data', this.#read).on('error', this.#fail).on('end', this.#end).on('close', this.#end)
  }

  readonly #fail = (error: Error) => {
    const { message, code } = faultOf(error, this.#target)
    this.lose(message, code)
  }

  readonly #end = () => this.lose(`${addressOf(this.#target)} closed the connection`, 'ECONNRESET')

  readonly #read = (chunk: Buffer) => {
    if (this.#lost !== undefined) return
    const fault = this.#reader.read(chunk, this.#take)
    if (fault) this.lose(`${addressOf(this.#target)} sent an invalid reply: ${fault}`)
  }

  readonly #take = (reply: Reply) => {
    if (this.#lost !== undefined) return
    const [first] = this.#waiting
    if (first && first.received.push(reply) === first.wanted) {
      this.#waiting.shift()
      first.resolve(first.received)
    }
    // 421 announces that the relay closes the connection, whatever the command was.
    if (reply.code === 421) this.lose(`${addressOf(this.#target)} closed the connection: ${replyText(reply)}`)
    else if (!first) this.lose(`${addressOf(this.#target)} sent an unexpected reply: ${replyText(reply)}`)
    else this.#watchHead()
  }

  /**
   * The timeout applies to the oldest pending reply. There is one timer per connection; it may fire early and is then
   * restarted, which is cheaper than restarting it for each reply.
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
    else this.lose(timeoutOf(this.#target, head.timeoutMs).message, 'ETIMEDOUT')
  }
}

const quitMs = 2_000
