import { isMailable, needsUtf8, type WireData } from './data.ts'
import { type Extensions, openWire, type SmtpLimits, type SmtpOptions, type StepName, smtpLimits } from './handshake.ts'
import { queueIdOf, type Reply, replyText, statusOf } from './reply.ts'
import type { RelayFault } from './socket.ts'
import type { Envelope, SendOutcome, Stage } from './transport.ts'
import type { SmtpTarget } from './url.ts'
import type { SmtpWire, WireEncoding } from './wire.ts'

export type Unreachable = {
  kind: 'unreachable'
  reason: string
  /** The step of the handshake that failed. */
  step: StepName
  /** The error code of the network or TLS, if it failed there. */
  code: string | undefined
  /** The code of the reply that rejected us. */
  replyCode: number | undefined
}
export type Opened = { kind: 'open'; connection: SmtpConnection } | Unreachable

/**
 * Opens a connection that is ready for its first email: greeting, TLS and authentication are complete. Never throws.
 */
export async function openSmtp(target: SmtpTarget, options: SmtpOptions = {}): Promise<Opened> {
  const limits = { ...smtpLimits, ...options.limits }
  let step: StepName = 'resolve'
  const onStepStart = (started: StepName) => {
    step = started
  }
  try {
    const { wire, extensions } = await openWire(target, limits, { ...options, onStepStart })
    return { kind: 'open', connection: new SmtpConnection(wire, extensions, limits) }
  } catch (error) {
    // Includes local errors, such as an unreadable certificate, so that emails are not left pending.
    const { message, code, replyCode } = error as Partial<RelayFault>
    return { kind: 'unreachable', reason: message ?? String(error), step, code, replyCode }
  }
}

type EnvelopeCommands = { sender: string; recipient: string; encoding: WireEncoding }

/**
 * Sends emails one after another. With PIPELINING an email costs one round trip: its envelope is sent at once, directly
 * after the content of the previous email, as RFC 2920 section 3.1 allows.
 */
export class SmtpConnection {
  /** Emails passed to this connection so far. */
  carried = 0
  readonly #wire: SmtpWire
  readonly #extensions: Extensions
  readonly #limits: SmtpLimits
  #needsReset = false
  #inFlight = 0

  constructor(wire: SmtpWire, extensions: Extensions, limits: SmtpLimits) {
    this.#wire = wire
    this.#extensions = extensions
    this.#limits = limits
  }

  get lost(): boolean {
    return this.#wire.lost !== undefined
  }

  /** True while no email is in flight. */
  get quiet(): boolean {
    return this.#inFlight === 0
  }

  /** How long the relay has owed a reply. */
  get silentMs(): number {
    return this.#wire.silentMs
  }

  onLost(listener: () => void): void {
    this.#wire.onLost = listener
  }

  /** Must only be called when `quiet`. */
  quit(): void {
    this.#wire.quit()
  }

  /** Closes the connection immediately. Emails in flight are interrupted. */
  abandon(reason: string): void {
    this.#wire.lose(reason)
  }

  /**
   * With PIPELINING, `onFree` is called when the next email may be sent, before the reply to this one has arrived. Throws
   * only what reading a large email throws.
   */
  async send(envelope: Envelope, data: WireData, onFree: () => void): Promise<SendOutcome> {
    this.carried++
    this.#inFlight++
    try {
      const unsendable = this.#unsendable(envelope, data)
      if (unsendable) return unsendable
      const commands = this.#envelopeCommands(envelope, data)
      const { pipelining } = this.#extensions
      const replies = pipelining ? await this.#sendAll(commands) : await this.#sendOneByOne(commands)
      const rejection = this.#rejectionOf(replies)
      if (rejection) {
        this.#needsReset = true
        if (replies[2]?.code === 354) await this.#endContent()
        return rejection
      }
      if (this.lost) return this.#interrupted(false)
      const wire = this.#wire
      if ('text' in data) wire.write(data.text, data.encoding)
      else if (!(await this.#writePieces(data.pieces()))) return this.#interrupted(false)
      const answered = wire.reply(this.#limits.dataEndMs)
      if (pipelining) onFree()
      return this.#outcomeOf(await answered)
    } finally {
      this.#inFlight--
    }
  }

  /** Rejects emails that the relay cannot accept according to its extensions, since it might corrupt them. */
  #unsendable({ from, to }: Envelope, data: WireData): SendOutcome | undefined {
    const { sizeMax, smtpUtf8, eightBitMime } = this.#extensions
    if (from !== '' && !isMailable(from)) return ownRefusal('sender', 553, '5.1.7', 'the sender is not a valid address')
    if (!isMailable(to)) return ownRefusal('recipient', 553, '5.1.3', 'the recipient is not a valid address')
    if (!smtpUtf8 && needsUtf8(from)) return ownRefusal('sender', 553, '5.6.7', noUtf8)
    if (!smtpUtf8 && needsUtf8(to)) return ownRefusal('recipient', 553, '5.6.7', noUtf8)
    if (!eightBitMime && !data.ascii)
      return ownRefusal('data', 554, '5.6.3', 'the relay does not accept 8-bit email (8BITMIME)')
    if (sizeMax > 0 && data.bytes > sizeMax)
      return ownRefusal('data', 552, '5.3.4', `the email has ${data.bytes} bytes, the relay accepts ${sizeMax}`)
    return undefined
  }

  #envelopeCommands({ from, to }: Envelope, data: WireData): EnvelopeCommands {
    const utf8 = needsUtf8(from) || needsUtf8(to)
    const size = this.#extensions.size ? ` SIZE=${data.bytes}` : ''
    const body = data.ascii ? '' : ' BODY=8BITMIME'
    return {
      sender: `MAIL FROM:<${from}>${size}${body}${utf8 ? ' SMTPUTF8' : ''}\r\n`,
      recipient: `RCPT TO:<${to}>\r\n`,
      encoding: utf8 ? 'utf8' : 'latin1',
    }
  }

  /** Returns the replies; fewer if the connection is lost. */
  #sendAll({ sender, recipient, encoding }: EnvelopeCommands): Promise<Reply[]> {
    const { commandMs } = this.#limits
    const reset = this.#takeReset()
    this.#wire.write(`${reset}${sender}${recipient}DATA\r\n`, encoding)
    if (reset) void this.#wire.reply(commandMs)
    return this.#wire.replies(3, commandMs)
  }

  /** Returns the replies up to the first rejection. */
  async #sendOneByOne({ sender, recipient, encoding }: EnvelopeCommands): Promise<Reply[]> {
    const reset = this.#takeReset()
    if (reset) await this.#ask(reset, encoding)
    const replies: Reply[] = []
    for (const command of [sender, recipient, 'DATA\r\n']) {
      const reply = await this.#ask(command, encoding)
      if (reply) replies.push(reply)
      if (!reply || reply.code >= 300) break
    }
    return replies
  }

  /** Returns undefined if the relay is ready for the content. */
  #rejectionOf([sender, recipient, data]: readonly Reply[]): SendOutcome | undefined {
    return (
      this.#rejection('sender', sender) ?? this.#rejection('recipient', recipient) ?? this.#rejection('data', data, 354)
    )
  }

  /** For a relay that expects content although it rejected the envelope. RFC 2920: send only the end of the content. */
  async #endContent(): Promise<void> {
    this.#wire.write('.\r\n')
    await this.#wire.reply(this.#limits.dataEndMs)
  }

  #ask(command: string, encoding: WireEncoding): Promise<Reply | undefined> {
    this.#wire.write(command, encoding)
    return this.#wire.reply(this.#limits.commandMs)
  }

  #takeReset(): string {
    const reset = this.#needsReset ? 'RSET\r\n' : ''
    this.#needsReset = false
    return reset
  }

  #outcomeOf(reply: Reply | undefined): SendOutcome {
    if (!reply || (reply.code >= 300 && reply.code < 400)) {
      this.#wire.lose('the relay sent an invalid reply to the end of an email')
      return this.#interrupted(true)
    }
    return this.#rejection('data', reply) ?? { kind: 'accepted', reply: replyText(reply), queueId: queueIdOf(reply) }
  }

  /** Returns false if the connection is lost. Throws what reading the email throws; the relay then discards it. */
  async #writePieces(pieces: AsyncIterable<string>): Promise<boolean> {
    try {
      for await (const piece of pieces) if (!(await this.#wire.writePiece(piece, this.#limits.pieceMs))) return false
      return true
    } catch (error) {
      this.#wire.lose('the email could not be read')
      throw error
    }
  }

  /** Returns undefined if the reply is positive: 2xx, or the `wanted` code. */
  #rejection(stage: Stage, reply: Reply | undefined, wanted?: number): SendOutcome | undefined {
    if (!reply) return this.#interrupted(false)
    const { code } = reply
    if (wanted === undefined ? code < 300 : code === wanted) return undefined
    if (relayFailures[stage].includes(code)) {
      const reason = `the relay does not accept our email: ${replyText(reply)}`
      this.#wire.lose(reason)
      return { kind: 'unreachable', reason }
    }
    // 421 closes the connection. After an unexpected positive reply, later replies cannot be assigned to their
    // commands.
    if (code < 400) this.#wire.lose(`the relay sent an unexpected reply: ${replyText(reply)}`)
    if (code < 400 || code === 421) return this.#interrupted(false)
    const answer = { stage, replyCode: code, status: statusOf(reply), reply: replyText(reply) }
    return code >= 500 ? { kind: 'refused', ...answer } : { kind: 'deferred', ...answer }
  }

  #interrupted(maybeSent: boolean): SendOutcome {
    return { kind: 'interrupted', reason: this.#wire.lost ?? '', maybeSent }
  }
}

// Codes that concern the relay and not the email: shutting down, unknown or misplaced commands, missing authentication
// or encryption. At the recipient, a syntax error may be caused by the address, so fewer codes count there.
const relayFailures: Record<Stage, readonly number[]> = {
  sender: [421, 500, 502, 503, 530, 534, 535, 538],
  recipient: [503, 530, 534, 535, 538],
  data: [],
}

const noUtf8 = 'the address requires SMTPUTF8, which the relay does not support'

function ownRefusal(stage: Stage, replyCode: number, status: string, why: string): SendOutcome {
  return { kind: 'refused', stage, replyCode, status, reply: `${replyCode} ${status} Not sent: ${why}` }
}
