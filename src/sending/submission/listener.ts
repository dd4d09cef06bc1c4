import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import type { KnownKey } from '../../accounts/accounts.ts'
import type { Certificate } from '../../platform/config/setting-files.ts'
import { enterSection } from '../../platform/runtime/event-loop.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { atMinimumRate } from '../../platform/runtime/minimum-rate.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { within } from '../../platform/runtime/within.ts'
import { SmtpPort } from '../../platform/smtp/smtp-port.ts'
import { type EmailAddress, parseEmail } from '../../platform/values/email.ts'
import { Connections } from './connections.ts'
import { type SubmissionLimits, submissionLimits } from './limits.ts'
import type { Sender, SignedIn } from './sign-in.ts'
import { adaptReplies, replyFor, SmtpReply } from './smtp-reply.ts'

/** An email that is being received. `content` has to be read to its end before the email is accepted. */
export type SubmittedEmail = {
  key: KnownKey
  /** The recipients of the envelope, each once. */
  recipients: readonly EmailAddress[]
  content: AsyncIterable<Buffer>
  /** The IP address of the client. */
  client: string
}

export type SubmissionOptions = {
  host: string
  /** The port for STARTTLS, if any. */
  port: number | undefined
  /** The port for TLS from the first byte, if any. */
  tlsPort: number | undefined
  /** The name in the greeting. */
  name: string
  /** Undefined if there is none: AUTH is then possible without TLS, so the host must be a loopback address. */
  certificate: Certificate | undefined
  /** Returns the certificate if it was replaced since the last call. */
  newCertificate: () => Certificate | undefined
  /** Throws `SmtpReply` if the password is not an API key that may send email. */
  signIn: (password: string, address: string) => Promise<SignedIn>
  keyLimit: RateLimit
  /** Accepts an email and returns the text of the reply. Throws `Refusal` or `SmtpReply` if it is rejected. */
  accept: (email: SubmittedEmail) => Promise<string>
  log: Pick<Log, 'info' | 'warn' | 'error'>
  limits?: Partial<SubmissionLimits>
  stageRegistry: StageRegistry
}

export type SubmissionListener = {
  port: number | undefined
  tlsPort: number | undefined
  close: () => Promise<void>
}

/** Starts the SMTP servers through which programs send email with an API key. */
export async function startSubmission(options: SubmissionOptions): Promise<SubmissionListener> {
  const limits = { ...submissionLimits, ...options.limits }
  const connections = new Connections(limits, options.stageRegistry)
  const ports: SmtpPort[] = []
  const renewCertificate = () => {
    const certificate = options.newCertificate()
    if (certificate) for (const port of ports) port.useCertificate(certificate)
  }
  const listen = async (number: number | undefined, isImplicit: boolean) => {
    if (number === undefined) return undefined
    const { port } = new Submission({ options, limits, connections, isImplicit, renewCertificate })
    await port.listen(number, options.host)
    ports.push(port)
    return port.port
  }
  const close = async () => {
    await Promise.all(ports.map((port) => port.close()))
    // Some may not have finished their TLS handshake.
    connections.destroyAll()
  }
  try {
    return { port: await listen(options.port, false), tlsPort: await listen(options.tlsPort, true), close }
  } catch (error) {
    await close()
    throw error
  }
}

type ServerParts = {
  options: SubmissionOptions
  limits: SubmissionLimits
  connections: Connections
  /** Whether TLS starts with the first byte. */
  isImplicit: boolean
  renewCertificate: () => void
}
type Done = (error?: Error | null) => void

/** Commands of smtp-server that a client has no use for. */
const unusedCommands = ['XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL']

/** One port. */
class Submission {
  readonly #options: SubmissionOptions
  readonly #limits: SubmissionLimits
  readonly #connections: Connections
  readonly port: SmtpPort

  constructor({ options, limits, connections, isImplicit, renewCertificate }: ServerParts) {
    this.#options = options
    this.#limits = limits
    this.#connections = connections
    this.port = new SmtpPort({
      limits,
      log: options.log,
      failure: 'Submission connection failed',
      admit: (socket) => {
        if (!connections.admit(socket)) return false
        renewCertificate()
        return true
      },
      smtp: { ...this.#smtpOptions(), secure: isImplicit },
    })
  }

  #smtpOptions() {
    const { certificate, name, signIn } = this.#options
    return {
      ...certificate,
      name,
      heloResponse: '%s',
      disabledCommands: certificate ? unusedCommands : [...unusedCommands, 'STARTTLS'],
      authMethods: ['PLAIN', 'LOGIN'],
      // Addresses beyond ASCII are not accepted.
      hideSMTPUTF8: true,
      onConnect: (session, done) => {
        const connection = this.port.find(session)
        if (connection) adaptReplies(connection, { needsTls: certificate !== undefined })
        done()
      },
      onClose: (session) => this.#connections.closed(session),
      onAuth: ({ password }, session, done) =>
        void signIn(password ?? '', session.remoteAddress).then(
          ({ key, sender }) => {
            if (this.#connections.signIn(session, key.organizationId)) done(null, { user: sender })
            else done(new SmtpReply(454, '4.7.0', 'Your organization has too many connections. Try again later.'))
          },
          (error: unknown) => done(this.#replyFor(error, 'Signing in failed')),
        ),
      onMailFrom: (_address, session, done) => this.#answer(done, this.#beginTransaction(session)),
      onRcptTo: ({ address }, _session, done) => done(recipientProblem(address)),
      onData: (stream, session, done) =>
        void this.#receive(stream, session)
          .then(
            (text) => done(null, text),
            (error: unknown) => done(this.#replyFor(error, 'Accepting an email failed')),
          )
          .finally(() => this.#connections.endTransaction(session)),
    } satisfies SMTPServerOptions
  }

  /** Throws `SmtpReply` if the client may not send an email now. */
  async #beginTransaction(session: SMTPServerSession): Promise<void> {
    const key = await (session.user as Sender).find()
    if (!this.#options.keyLimit.allow(key.id)) throw rateExceeded()
    if (!this.#connections.mayReceive(key.organizationId)) throw tooManyEmails()
    this.#connections.beginTransaction(session, () => this.port.hangUp(session, '4.4.2 The email took too long.'))
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const startedAt = performance.now()
    let isReading = false
    try {
      const close = (reply: string) => this.port.hangUp(session, reply)
      const receiving = this.#connections.beginReceiving(session, () => close(placeNeeded))
      if (!receiving) throw tooManyEmails()
      const key = await (session.user as Sender).find()
      enterSection('submission')
      const client = session.remoteAddress
      const content = this.#contentOf(stream, receiving, () => close(tooSlow))
      const email = { key, recipients: recipientsOf(session), content, client }
      const accepting = this.#options.accept(email)
      const text = await within(this.#limits.transactionMs, accepting)
      if (text === undefined) {
        // It may still read the email, so nothing else does: the connection is closed.
        isReading = true
        accepting.catch(() => {})
        close(tookTooLong)
        throw new SmtpReply(451, '4.3.0', 'Storing the email took too long. Try again later.')
      }
      const fields = { organizationId: key.organizationId, keyId: key.id, recipients: email.recipients.length }
      const ms = Math.round(performance.now() - startedAt)
      this.#options.log.info({ ...fields, bytes: stream.byteLength, ms }, 'Email submitted')
      return text
    } finally {
      if (!isReading) await this.#discardRest(stream, session)
    }
  }

  /** Throws if the client disconnects or the email is too large. The rest of the stream can then be read again. */
  async *#contentOf(
    stream: SMTPServerDataStream,
    receiving: { progressAt: number },
    onTooSlow: () => void,
  ): AsyncGenerator<Buffer> {
    const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    const onProgress = () => {
      receiving.progressAt = performance.now()
    }
    for await (const chunk of atMinimumRate(joined(chunks, onProgress), this.#limits.minimumRate, onTooSlow)) {
      // smtp-server sends this reply itself.
      if (stream.sizeExceeded) throw new SmtpReply(552, '5.3.4', 'The email is too large.')
      yield chunk
    }
  }

  /** A rejected email is read to its end, because the reply can only follow then. */
  async #discardRest(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    let bytes = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > this.#limits.discardedBytesMax) this.port.hangUp(session, '4.3.4 The email is too large.')
    }
  }

  #answer(done: Done, work: Promise<void>): void {
    work.then(
      () => done(),
      (error: unknown) => done(this.#replyFor(error, 'A submission command failed')),
    )
  }

  #replyFor(error: unknown, message: string): SmtpReply {
    const reply = replyFor(error)
    if (reply) {
      this.#options.log.info({ reply: reply.responseCode, status: reply.status }, 'Submission rejected')
      return reply
    }
    if (!isDisconnected(error)) this.#options.log.error({ err: error }, message)
    return new SmtpReply(451, '4.3.0', 'Temporary failure. Try again later.')
  }
}

/** smtp-server passes on each line that begins with a dot as a chunk of its own, and what follows costs time per chunk. */
const joinedBytes = 16 * 1024

async function* joined(chunks: AsyncIterable<Buffer>, onProgress: () => void): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    onProgress()
    pieces.push(chunk)
    bytes += chunk.length
    if (bytes < joinedBytes) continue
    yield pieces.length === 1 ? chunk : Buffer.concat(pieces)
    pieces = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pieces)
}

/** The client was gone before it had sent the whole email. */
const isDisconnected = (error: unknown) =>
  ['ECONNECTION', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '')

const tooSlow = '4.4.2 The email is sent too slowly. Try again.'
const tookTooLong = '4.3.0 Storing the email took too long. Try again later.'
const placeNeeded = '4.4.2 Too many emails are being received at the same time. Try again later.'
const rateExceeded = () => new SmtpReply(451, '4.7.1', 'This API key exceeds its rate limit. Try again later.')
const tooManyEmails = () =>
  new SmtpReply(451, '4.7.1', 'Too many emails are being received at the same time. Try again later.')

function recipientProblem(address: string): SmtpReply | null {
  const parsed = parseEmail(address)
  return parsed.ok ? null : new SmtpReply(553, '5.1.3', `The recipient ${parsed.problem}.`)
}

/** Two spellings of an address are one recipient. */
function recipientsOf({ envelope }: SMTPServerSession): EmailAddress[] {
  const recipients = new Map<string, EmailAddress>()
  for (const { address } of envelope.rcptTo) {
    const parsed = parseEmail(address)
    if (parsed.ok && !recipients.has(parsed.key))
      recipients.set(parsed.key, { email: parsed.address, emailKey: parsed.key })
  }
  return [...recipients.values()]
}
