import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { enterSection } from '../../platform/runtime/event-loop.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { within } from '../../platform/runtime/within.ts'
import { SmtpPort, type SmtpPortLimits } from '../../platform/smtp/smtp-port.ts'
import { clientNetwork } from '../../platform/values/client-address.ts'
import { asciiDomain } from '../../platform/values/domain.ts'

type ListenerLimits = SmtpPortLimits & {
  /** Limit for all emails being received at the same time. */
  heldBytesMax: number
  connectionsMax: number
  connectionsPerAddressMax: number
  /** Emails and wrong recipients. High, because one relay may return the bounces of a large mailing. */
  stepsPerMinutePerAddress: number
  /** Emails from all addresses together. Further emails are deferred. */
  emailsPerMinute: number
  sessionMs: number
  /** Time limit for `onEmail`. After it, the email is deferred. */
  handleMs: number
}

const MiB = 1024 * 1024

const listenerLimits: ListenerLimits = {
  emailBytesMax: 10 * MiB,
  heldBytesMax: 64 * MiB,
  recipientsMax: 100,
  connectionsMax: 100,
  connectionsPerAddressMax: 20,
  stepsPerMinutePerAddress: 1_200,
  emailsPerMinute: 3_000,
  commandBytesMax: 4_096,
  idleMs: 60_000,
  sessionMs: 600_000,
  handleMs: 60_000,
  closeMs: 10_000,
}

export type ReceivedEmail = { recipients: string[]; sender: string; raw: Buffer }

export type BounceListenerOptions = {
  host: string
  port: number
  /** The name in the greeting. */
  domain: string
  /** Returns true if the address, whose domain is in lower-case ASCII, was created by us. Other recipients are rejected. */
  verify: (address: string) => boolean | Promise<boolean>
  /** The email is acknowledged with 250 after this has resolved, and deferred if it throws. */
  onEmail: (email: ReceivedEmail) => Promise<void>
  tls?: { cert: string; key: string }
  log: Pick<Log, 'info' | 'error'>
  limits?: Partial<ListenerLimits>
}

export type BounceListener = { port: number; close: () => Promise<void> }

/** Starts an SMTP server that accepts email only for addresses we created ourselves. It never relays. */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const limits = { ...listenerLimits, ...options.limits }
  const sessions = new Sessions(limits)
  const intake = new Intake(options, limits)
  const port: SmtpPort = new SmtpPort({
    limits,
    log: options.log,
    failure: 'Bounce connection failed',
    smtp: {
      ...options.tls,
      name: options.domain,
      disabledCommands: options.tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
      maxClients: limits.connectionsMax,
      onConnect: (session, done) =>
        done(sessions.enter(session, () => port.hangUp(session, 'The session took too long, try again later'))),
      onClose: (session) => sessions.leave(session),
      onMailFrom: (_address, session, done) => done(sessions.step(session)),
      onRcptTo: ({ address }, session, done) =>
        void intake
          .checkRecipient(address)
          .then((error) => done(error?.responseCode === 550 ? (sessions.wrong(session) ?? error) : error)),
      onData: (stream, session, done) => void intake.receive(stream, session).then(done),
    },
  })
  await port.listen(options.port, options.host)
  return { port: port.port, close: () => port.close() }
}

type SmtpError = Error & { responseCode: number }
const smtpError = (responseCode: number, text: string): SmtpError => Object.assign(new Error(text), { responseCode })

/** Enforces the limits on connections, session duration and rate per client network. */
class Sessions {
  readonly #limits: ListenerLimits
  readonly #rate: RateLimit
  readonly #overall: RateLimit
  #open = new Map<string, { network: string; timer: NodeJS.Timeout }>()

  constructor(limits: ListenerLimits) {
    this.#limits = limits
    const perMinute = (count: number) => new RateLimit({ perSecond: count / 60, burst: count })
    this.#rate = perMinute(limits.stepsPerMinutePerAddress)
    this.#overall = perMinute(limits.emailsPerMinute)
  }

  enter({ id, remoteAddress }: SMTPServerSession, onTooLong: () => void): SmtpError | undefined {
    const network = clientNetwork(remoteAddress)
    let same = 0
    for (const other of this.#open.values()) if (other.network === network) same++
    if (same >= this.#limits.connectionsPerAddressMax) return smtpError(421, 'Too many connections from your address')
    this.#open.set(id, { network, timer: setTimeout(onTooLong, this.#limits.sessionMs).unref() })
    return undefined
  }

  leave({ id }: SMTPServerSession): void {
    clearTimeout(this.#open.get(id)?.timer)
    this.#open.delete(id)
  }

  step({ remoteAddress }: SMTPServerSession): SmtpError | undefined {
    if (!this.#rate.allow(clientNetwork(remoteAddress)))
      return smtpError(451, 'Too many emails from your address, try again later')
    return this.#overall.allow('all') ? undefined : smtpError(451, 'Too busy, try again later')
  }

  /** A wrong recipient counts as much as an email. Clients that keep guessing are disconnected. */
  wrong({ remoteAddress }: SMTPServerSession): SmtpError | undefined {
    return this.#rate.allow(clientNetwork(remoteAddress)) ? undefined : smtpError(421, 'Too many wrong recipients')
  }
}

/** Receives emails within a memory limit for all of them together. */
class Intake {
  readonly #options: BounceListenerOptions
  readonly #limits: ListenerLimits
  #heldBytes = 0

  constructor(options: BounceListenerOptions, limits: ListenerLimits) {
    this.#options = options
    this.#limits = limits
  }

  async checkRecipient(address: string): Promise<SmtpError | undefined> {
    const recipient = withAsciiDomain(address)
    try {
      return (await this.#options.verify(recipient)) ? undefined : smtpError(550, 'No such recipient here')
    } catch (err) {
      this.#options.log.error({ err }, 'Verifying a bounce recipient failed')
      return smtpError(451, 'Temporary failure, try again later')
    }
  }

  async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<SmtpError | undefined> {
    let chunks: Buffer[] | undefined = []
    let bytes = 0
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        // An email that exceeds the limit is still read to its end, because the reply can only follow then.
        if (!chunks) continue
        bytes += chunk.length
        this.#heldBytes += chunk.length
        chunks.push(chunk)
        if (this.#heldBytes <= this.#limits.heldBytesMax && !stream.sizeExceeded) continue
        chunks = undefined
        this.#heldBytes -= bytes
        bytes = 0
      }
      // For an email above its own size limit, smtp-server replies with 552 whatever is returned here.
      return chunks ? await this.#handle(Buffer.concat(chunks), session) : smtpError(451, 'Too busy, try again later')
    } catch {
      return smtpError(451, 'The email was not received completely')
    } finally {
      this.#heldBytes -= bytes
    }
  }

  async #handle(raw: Buffer, { envelope }: SMTPServerSession): Promise<SmtpError | undefined> {
    const { log, onEmail } = this.#options
    const recipients = envelope.rcptTo.map((recipient) => withAsciiDomain(recipient.address))
    const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
    try {
      enterSection('bounce email')
      const handled = await within(
        this.#limits.handleMs,
        onEmail({ recipients, sender, raw }).then(() => true),
      )
      if (!handled) throw new Error(`Timed out after ${this.#limits.handleMs / 1000} s`)
      log.info({ bytes: raw.length, recipients: recipients.length }, 'Bounce email received')
      return undefined
    } catch (err) {
      log.error({ err }, 'Handling a bounce email failed')
      return smtpError(451, 'Cannot accept the email now, try again later')
    }
  }
}

/** smtp-server returns domains in Unicode; ours are compared and verified in ASCII. */
function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at + 1)}${asciiDomain(address.slice(at + 1)) ?? ''}`
}
