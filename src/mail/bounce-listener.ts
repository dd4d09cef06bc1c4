import { once } from 'node:events'
import { domainToASCII } from 'node:url'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { enterSection } from '../runtime/event-loop.ts'
import type { Log } from '../runtime/log.ts'
import { RateLimit } from '../runtime/rate-limit.ts'
import { clientNetwork } from '../values/client-address.ts'

export type ListenerLimits = {
  mailBytesMax: number
  /** Of all mails that are being received at one time. */
  heldBytesMax: number
  recipientsMax: number
  connectionsMax: number
  connectionsPerAddressMax: number
  /** Mails and wrong recipients. High, since one relay may return the bounces of a large mailing. */
  stepsPerMinutePerAddress: number
  /** Mails of all addresses together. Senders of more are asked to try again later. */
  mailsPerMinute: number
  commandBytesMax: number
  idleMs: number
  sessionMs: number
  /** How long the mail may take to be dealt with before the sender is told to try again. */
  handleMs: number
  closeMs: number
}

const MiB = 1024 * 1024

const listenerLimits: ListenerLimits = {
  mailBytesMax: 10 * MiB,
  heldBytesMax: 64 * MiB,
  recipientsMax: 100,
  connectionsMax: 100,
  connectionsPerAddressMax: 20,
  stepsPerMinutePerAddress: 1_200,
  mailsPerMinute: 3_000,
  commandBytesMax: 4_096,
  idleMs: 60_000,
  sessionMs: 600_000,
  handleMs: 60_000,
  closeMs: 10_000,
}

export type BounceMail = { recipients: string[]; sender: string; raw: Buffer }

export type BounceListenerOptions = {
  host: string
  port: number
  /** Recipients of any other domain are refused unasked. */
  domain: string
  /** Whether this address is one of ours. */
  verify: (address: string) => boolean | Promise<boolean>
  /** The sender is told 250 only after this has resolved, and to try again when it throws. */
  onMail: (mail: BounceMail) => Promise<void>
  tls?: { cert: string; key: string }
  log: Pick<Log, 'info' | 'error'>
  limits?: Partial<ListenerLimits>
}

export type BounceListener = { port: number; close: () => Promise<void> }

/** Takes mail for the addresses we made ourselves and for no others, so it can relay nothing. */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const limits = { ...listenerLimits, ...options.limits }
  const visits = new Visits(limits)
  const intake = new Intake(options, limits)
  const server: SMTPServer = new SMTPServer({
    ...options.tls,
    name: options.domain,
    disabledCommands: options.tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    logger: false,
    size: limits.mailBytesMax,
    rejectOversized: true,
    maxClients: limits.connectionsMax,
    maxRecipients: limits.recipientsMax,
    maxCommandLength: limits.commandBytesMax,
    socketTimeout: limits.idleMs,
    closeTimeout: limits.closeMs,
    onConnect: (session, done) => done(visits.enter(session, () => hangUp(server, session.id))),
    onClose: (session) => visits.leave(session),
    onMailFrom: (_address, session, done) => done(visits.step(session)),
    onRcptTo: ({ address }, session, done) =>
      void intake.judge(address).then((no) => done(no?.responseCode === 550 ? (visits.wrong(session) ?? no) : no)),
    onData: (stream, session, done) => void intake.receive(stream, session).then(done),
  })
  server.on('error', (err: NodeJS.ErrnoException) => options.log.info({ code: err.code }, 'bounce connection failed'))
  server.listen(options.port, options.host)
  await once(server.server, 'listening')
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        // Whoever is not in the middle of a mail need not be waited for.
        for (const { id } of [...server.connections]) if (!intake.isReceiving(id)) hangUp(server, id)
      }),
  }
}

function hangUp(server: SMTPServer, id: string): void {
  for (const connection of server.connections)
    if (connection.id === id) connection.send(421, 'Closing, please come again later')
}

type Refused = Error & { responseCode: number }
const refuse = (responseCode: number, text: string): Refused => Object.assign(new Error(text), { responseCode })

/** Who is connected, for how long, and how much each address has done. */
class Visits {
  readonly #limits: ListenerLimits
  readonly #rate: RateLimit
  readonly #overall: RateLimit
  #open = new Map<string, { visitor: string; timer: NodeJS.Timeout }>()

  constructor(limits: ListenerLimits) {
    this.#limits = limits
    const perMinute = (count: number) => new RateLimit({ perSecond: count / 60, burst: count })
    this.#rate = perMinute(limits.stepsPerMinutePerAddress)
    this.#overall = perMinute(limits.mailsPerMinute)
  }

  enter({ id, remoteAddress }: SMTPServerSession, onTooLong: () => void): Refused | undefined {
    const visitor = clientNetwork(remoteAddress)
    let same = 0
    for (const other of this.#open.values()) if (other.visitor === visitor) same++
    if (same >= this.#limits.connectionsPerAddressMax) return refuse(421, 'Too many connections from your address')
    this.#open.set(id, { visitor, timer: setTimeout(onTooLong, this.#limits.sessionMs).unref() })
    return undefined
  }

  leave({ id }: SMTPServerSession): void {
    clearTimeout(this.#open.get(id)?.timer)
    this.#open.delete(id)
  }

  step({ remoteAddress }: SMTPServerSession): Refused | undefined {
    if (!this.#rate.allow(clientNetwork(remoteAddress)))
      return refuse(451, 'Too much from your address, try again later')
    return this.#overall.allow('all') ? undefined : refuse(451, 'Too busy, try again later')
  }

  /** A guess at an address costs as much as a mail; whoever guesses on is sent away. */
  wrong({ remoteAddress }: SMTPServerSession): Refused | undefined {
    return this.#rate.allow(clientNetwork(remoteAddress)) ? undefined : refuse(421, 'Too many wrong recipients')
  }
}

/** Reads the mails, within the memory allowed for all of them together. */
class Intake {
  readonly #options: BounceListenerOptions
  readonly #limits: ListenerLimits
  #receiving = new Set<string>()
  #heldBytes = 0

  constructor(options: BounceListenerOptions, limits: ListenerLimits) {
    this.#options = options
    this.#limits = limits
  }

  isReceiving(sessionId: string): boolean {
    return this.#receiving.has(sessionId)
  }

  async judge(address: string): Promise<Refused | undefined> {
    const known = withAsciiDomain(address)
    try {
      const ours = known.endsWith(`@${this.#options.domain.toLowerCase()}`)
      return ours && (await this.#options.verify(known)) ? undefined : refuse(550, 'No such recipient here')
    } catch (err) {
      this.#options.log.error({ err }, 'bounce recipient could not be verified')
      return refuse(451, 'Cannot tell now, try again later')
    }
  }

  async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Refused | undefined> {
    this.#receiving.add(session.id)
    let chunks: Buffer[] | undefined = []
    let bytes = 0
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        // What is too much is read to its end and thrown away: the answer can only follow the end.
        if (!chunks) continue
        bytes += chunk.length
        this.#heldBytes += chunk.length
        chunks.push(chunk)
        if (this.#heldBytes <= this.#limits.heldBytesMax && !stream.sizeExceeded) continue
        chunks = undefined
        this.#heldBytes -= bytes
        bytes = 0
      }
      // A mail above the limit for one mail gets its 552 from the server, whatever we say.
      return chunks ? await this.#handle(Buffer.concat(chunks), session) : refuse(451, 'Too busy, try again later')
    } catch {
      return refuse(451, 'The mail did not arrive whole')
    } finally {
      this.#heldBytes -= bytes
      this.#receiving.delete(session.id)
    }
  }

  async #handle(raw: Buffer, { envelope }: SMTPServerSession): Promise<Refused | undefined> {
    const { log, onMail } = this.#options
    const recipients = envelope.rcptTo.map((recipient) => withAsciiDomain(recipient.address))
    const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
    try {
      enterSection('bounce mail')
      await within(this.#limits.handleMs, onMail({ recipients, sender, raw }))
      log.info({ bytes: raw.length, recipients: recipients.length }, 'bounce mail received')
      return undefined
    } catch (err) {
      log.error({ err }, 'bounce mail could not be handled')
      return refuse(451, 'Cannot take it now, try again later')
    }
  }
}

/** smtp-server gives domains in Unicode; ours are compared and verified as the DNS writes them. */
function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at + 1)}${domainToASCII(address.slice(at + 1))}`
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms / 1000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
