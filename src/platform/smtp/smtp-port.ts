import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Log } from '../runtime/log.ts'
import { within } from '../runtime/within.ts'

export type SmtpPortLimits = {
  emailBytesMax: number
  recipientsMax: number
  commandBytesMax: number
  /** A connection is closed if its client sends nothing for this long. */
  idleMs: number
  /** How long connections that are receiving an email are waited for when the service stops. */
  closeMs: number
}

export type SmtpPortOptions = {
  limits: SmtpPortLimits
  log: Pick<Log, 'info'>
  /** Logged when a connection fails. */
  failure: string
  /** Called before the TLS handshake, while smtp-server limits connections only after it. Returns false to refuse one. */
  admit?: (socket: Socket) => boolean
  /** What the two uses of smtp-server do differently. */
  smtp: SMTPServerOptions & Pick<Required<SMTPServerOptions>, 'onData'>
}

type Session = { id: string }

const tooManyConnections = '421 4.7.0 Too many connections. Try again later.\r\n'
const shuttingDown = '4.3.2 The service is restarting. Try again.'

/** A port on which email is received with smtp-server. */
export class SmtpPort {
  readonly #options: SmtpPortOptions
  readonly #smtp: SMTPServer
  readonly #acceptor: Server
  readonly #receiving = new Set<string>()
  #isClosing = false

  constructor(options: SmtpPortOptions) {
    const { limits, log, failure, smtp } = options
    this.#options = options
    this.#smtp = new SMTPServer({
      hideENHANCEDSTATUSCODES: false,
      disableReverseLookup: true,
      logger: false,
      size: limits.emailBytesMax,
      rejectOversized: true,
      maxRecipients: limits.recipientsMax,
      maxCommandLength: limits.commandBytesMax,
      socketTimeout: limits.idleMs,
      ...smtp,
      onData: (stream, session, done) => {
        this.#receiving.add(session.id)
        smtp.onData(stream, session, (...reply) => {
          this.#receiving.delete(session.id)
          done(...reply)
          if (this.#isClosing) this.hangUp(session, shuttingDown)
        })
      },
    })
    const report = ({ code }: NodeJS.ErrnoException) => log.info({ code }, failure)
    this.#smtp.on('error', report)
    this.#acceptor = createServer((socket) => this.#accept(socket)).on('error', report)
  }

  get port(): number {
    return (this.#acceptor.address() as AddressInfo).port
  }

  async listen(port: number, host: string): Promise<void> {
    this.#acceptor.listen(port, host)
    await once(this.#acceptor, 'listening')
  }

  useCertificate(certificate: { cert: string; key: string }): void {
    this.#smtp.updateSecureContext(certificate)
  }

  /** Returns the connection of a session, unless it was closed. */
  find({ id }: Session) {
    for (const connection of this.#smtp.connections) if (connection.id === id) return connection
    return undefined
  }

  hangUp(session: Session, reply: string): void {
    this.find(session)?.send(421, reply)
  }

  /** Waits for emails that are being received, within a limit. */
  async close(): Promise<void> {
    this.#isClosing = true
    const closed = new Promise((resolve) => this.#acceptor.close(resolve))
    for (const connection of [...this.#smtp.connections])
      if (!this.#receiving.has(connection.id)) connection.send(421, shuttingDown)
    await within(this.#options.limits.closeMs, closed)
    for (const connection of [...this.#smtp.connections]) connection.close()
  }

  #accept(socket: Socket): void {
    const { admit, smtp } = this.#options
    if (admit?.(socket) !== false) {
      this.#smtp.server.emit('connection', socket)
      return
    }
    socket.on('error', () => {})
    // Without TLS, the client gets to know the reason.
    if (smtp.secure) socket.destroy()
    else socket.end(tooManyConnections, () => socket.destroy())
  }
}
