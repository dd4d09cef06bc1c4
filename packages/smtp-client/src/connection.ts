import { isMailable, needsUtf8, type WireData } from './data.ts'
import { type Extensions, openWire, type SmtpLimits, smtpLimits } from './handshake.ts'
import { queueIdOf, type Reply, replyText, statusOf } from './reply.ts'
import type { Envelope, SendOutcome, Stage } from './transport.ts'
import type { SmtpTarget } from './url.ts'
import type { SmtpWire, WireEncoding } from './wire.ts'

export type SmtpOptions = {
  limits?: Partial<SmtpLimits>
  /** Certificates to trust instead of the system's. */
  ca?: string
}

export type Opened = { kind: 'open'; connection: SmtpConnection } | { kind: 'unreachable'; because: string }

/** Opens a connection that is ready for its first mail: greeted, encrypted and authenticated as the target asks. */
export async function openSmtp(target: SmtpTarget, options: SmtpOptions = {}): Promise<Opened> {
  const limits = { ...smtpLimits, ...options.limits }
  try {
    const { wire, extensions } = await openWire(target, limits, options.ca)
    return { kind: 'open', connection: new SmtpConnection(wire, extensions, limits) }
  } catch (error) {
    // Not only what the relay did: certificates that cannot be read, say, must not leave mails waiting either.
    return { kind: 'unreachable', because: error instanceof Error ? error.message : String(error) }
  }
}

type Offer = { sender: string; recipient: string; encoding: WireEncoding }

/**
 * Carries one mail after another. With PIPELINING a mail costs one round trip: the envelope goes out in one piece,
 * and the next one's envelope right behind the content of the one before, as RFC 2920 section 3.1 allows.
 */
export class SmtpConnection {
  /** Mails given to this connection so far. */
  carried = 0
  readonly #wire: SmtpWire
  readonly #extensions: Extensions
  readonly #limits: SmtpLimits
  #needsReset = false
  #underWay = 0

  constructor(wire: SmtpWire, extensions: Extensions, limits: SmtpLimits) {
    this.#wire = wire
    this.#extensions = extensions
    this.#limits = limits
  }

  get lost(): boolean {
    return this.#wire.lost !== undefined
  }

  /** True while no mail is under way. */
  get quiet(): boolean {
    return this.#underWay === 0
  }

  onLost(listener: () => void): void {
    this.#wire.onLost = listener
  }

  /** Only when quiet. */
  quit(): void {
    this.#wire.quit()
  }

  /** Gives up whatever is under way. */
  abandon(because: string): void {
    this.#wire.lose(because)
  }

  /** With PIPELINING `onFree` is called when the next mail may follow before this one is answered. */
  async send(envelope: Envelope, data: WireData, onFree: () => void): Promise<SendOutcome> {
    this.carried++
    this.#underWay++
    try {
      const objection = this.#objection(envelope, data)
      if (objection) return objection
      const offer = this.#offer(envelope, data)
      const no = this.#extensions.pipelining ? await this.#offerAtOnce(offer) : await this.#offerInTurn(offer)
      if (!no) return await this.#transfer(data, onFree)
      this.#needsReset = true
      return no
    } finally {
      this.#underWay--
    }
  }

  /** What we know to be impossible is not tried: the relay would have to refuse it, or worse, mangle it. */
  #objection({ from, to }: Envelope, data: WireData): SendOutcome | undefined {
    const { sizeMax, smtpUtf8, eightBitMime } = this.#extensions
    if (from !== '' && !isMailable(from)) return ownRefusal('sender', 553, '5.1.7', 'the sender is no mail address')
    if (!isMailable(to)) return ownRefusal('recipient', 553, '5.1.3', 'the recipient is no mail address')
    if (!smtpUtf8 && needsUtf8(from)) return ownRefusal('sender', 553, '5.6.7', noUtf8)
    if (!smtpUtf8 && needsUtf8(to)) return ownRefusal('recipient', 553, '5.6.7', noUtf8)
    if (!eightBitMime && !data.ascii)
      return ownRefusal('data', 554, '5.6.3', 'the relay takes no 8-bit mail (8BITMIME)')
    if (sizeMax > 0 && data.bytes > sizeMax)
      return ownRefusal('data', 552, '5.3.4', `the mail has ${data.bytes} bytes, the relay takes ${sizeMax}`)
    return undefined
  }

  #offer({ from, to }: Envelope, data: WireData): Offer {
    const utf8 = needsUtf8(from) || needsUtf8(to)
    const size = this.#extensions.size ? ` SIZE=${data.bytes}` : ''
    const body = data.ascii ? '' : ' BODY=8BITMIME'
    return {
      sender: `MAIL FROM:<${from}>${size}${body}${utf8 ? ' SMTPUTF8' : ''}\r\n`,
      recipient: `RCPT TO:<${to}>\r\n`,
      encoding: utf8 ? 'utf8' : 'latin1',
    }
  }

  /** Undefined when the relay waits for the content. */
  async #offerAtOnce({ sender, recipient, encoding }: Offer): Promise<SendOutcome | undefined> {
    const wire = this.#wire
    const { commandMs } = this.#limits
    const reset = this.#takeReset()
    wire.write(`${reset}${sender}${recipient}DATA\r\n`, encoding)
    if (reset) void wire.reply(commandMs)
    const replies = [wire.reply(commandMs), wire.reply(commandMs), wire.reply(commandMs)] as const
    // The last to come is awaited first: by then the others are there.
    const go = await replies[2]
    const no = this.#judge('sender', await replies[0]) ?? this.#judge('recipient', await replies[1])
    if (!no) return this.#judge('data', go, 354)
    if (go?.code === 354) {
      // The relay wants content although it refused the envelope. RFC 2920: send none, only its end.
      wire.write('.\r\n')
      await wire.reply(this.#limits.dataEndMs)
    }
    return no
  }

  async #offerInTurn({ sender, recipient, encoding }: Offer): Promise<SendOutcome | undefined> {
    const reset = this.#takeReset()
    if (reset) await this.#ask(reset, encoding)
    return (
      this.#judge('sender', await this.#ask(sender, encoding)) ??
      this.#judge('recipient', await this.#ask(recipient, encoding)) ??
      this.#judge('data', await this.#ask('DATA\r\n', encoding), 354)
    )
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

  async #transfer(data: WireData, onFree: () => void): Promise<SendOutcome> {
    const wire = this.#wire
    if (this.lost) return this.#interrupted(false)
    wire.write(data.text, data.encoding)
    const answered = wire.reply(this.#limits.dataEndMs)
    if (this.#extensions.pipelining) onFree()
    const reply = await answered
    if (!reply || (reply.code >= 300 && reply.code < 400)) {
      wire.lose('the relay answered the end of a mail as if it wanted more')
      return this.#interrupted(true)
    }
    return this.#judge('data', reply) ?? { kind: 'accepted', reply: replyText(reply), queueId: queueIdOf(reply) }
  }

  /** Undefined for a yes: 2xx, or the one code that is wanted. */
  #judge(stage: Stage, reply: Reply | undefined, wanted?: number): SendOutcome | undefined {
    if (!reply) return this.#interrupted(false)
    const { code } = reply
    if (wanted === undefined ? code < 300 : code === wanted) return undefined
    if (speaksOfRelay[stage].includes(code)) {
      const because = `the relay takes no mail from us: ${replyText(reply)}`
      this.#wire.lose(because)
      return { kind: 'unreachable', because }
    }
    // After 421 the connection is gone; after a yes in the wrong place no reply can be trusted any more.
    if (code < 400) this.#wire.lose(`the relay answered out of order: ${replyText(reply)}`)
    if (code < 400 || code === 421) return this.#interrupted(false)
    const answer = { stage, replyCode: code, status: statusOf(reply), reply: replyText(reply) }
    return code >= 500 ? { kind: 'refused', ...answer } : { kind: 'deferred', ...answer }
  }

  #interrupted(maybeSent: boolean): SendOutcome {
    return { kind: 'interrupted', because: this.#wire.lost ?? '', maybeSent }
  }
}

// Closing down, commands it does not know or want in this order, authentication or encryption missing: true of every
// mail alike. At the recipient a syntax error may be the address's fault, so fewer codes count there.
const speaksOfRelay: Record<Stage, readonly number[]> = {
  sender: [421, 500, 502, 503, 530, 534, 535, 538],
  recipient: [503, 530, 534, 535, 538],
  data: [],
}

const noUtf8 = 'the address needs SMTPUTF8, which the relay does not offer'

function ownRefusal(stage: Stage, replyCode: number, status: string, why: string): SendOutcome {
  return { kind: 'refused', stage, replyCode, status, reply: `${replyCode} ${status} Not sent: ${why}` }
}
