import { authenticate, authenticateByToken, type OAuthSignIn } from './authenticate.ts'
import { type Reply, replyText } from './reply.ts'
import {
  addressOf,
  openSocket,
  RelayFault,
  type ResolvedAddress,
  secureSocket,
  type TlsFacts,
  timeoutOf,
  tlsFactsOf,
} from './socket.ts'
import { isLoopback, type SmtpTarget } from './url.ts'
import { SmtpWire } from './wire.ts'

/** Timeouts of each step. RFC 5321 suggests minutes, but a configured relay usually replies within seconds. */
export type SmtpLimits = {
  connectMs: number
  greetingMs: number
  commandMs: number
  /** For all steps until the first email together. */
  handshakeMs: number
  /** For each piece of a large email. */
  pieceMs: number
  dataEndMs: number
}

export const smtpLimits: SmtpLimits = {
  connectMs: 10_000,
  greetingMs: 30_000,
  commandMs: 30_000,
  handshakeMs: 120_000,
  pieceMs: 60_000,
  // The relay may scan the email before it replies. If the timeout is too short, the email is sent twice.
  dataEndMs: 300_000,
}

/** The extensions in the reply to EHLO. `sizeMax` is 0 if the relay states no limit. */
export type Extensions = {
  pipelining: boolean
  eightBitMime: boolean
  smtpUtf8: boolean
  startTls: boolean
  size: boolean
  sizeMax: number
  auth: string[]
}

/** A completed step of the handshake. */
export type HandshakeStep =
  | { step: 'resolve'; addresses: string[] }
  | { step: 'connect'; address: string; ms: number }
  | ({ step: 'tls' } & TlsFacts)
  | { step: 'greeting'; text: string }
  | { step: 'ehlo'; extensions: string[] }
  | { step: 'auth'; method: string }
export type StepName = HandshakeStep['step']

export type SmtpOptions = {
  limits?: Partial<SmtpLimits>
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined
  /**
   * Returns the addresses to connect to, for a name or an address. Rejects with the reason if the host must not be
   * connected to. The name is not resolved again, so what was checked is what is connected to.
   */
  resolve?: ((host: string) => Promise<ResolvedAddress[]>) | undefined
  /** Used instead of the password in the URL. */
  oauth?: OAuthSignIn | undefined
  /** Called after each step. */
  onStep?: ((step: HandshakeStep) => void) | undefined
  /** Called before each step that follows another one. */
  onStepStart?: ((step: StepName) => void) | undefined
}

/** Connects and completes the handshake, so that an email can be sent. Throws `RelayFault` if that fails. */
export async function openWire(
  target: SmtpTarget,
  allLimits: SmtpLimits,
  options: SmtpOptions,
): Promise<{ wire: SmtpWire; extensions: Extensions }> {
  const limits = withDeadline(allLimits)
  const { oauth, resolve, onStep, onStepStart } = options
  const start = onStepStart ?? (() => {})
  start('resolve')
  const addresses = resolve && (await within(limits.connectMs, target, resolve(target.host)))
  if (addresses) onStep?.({ step: 'resolve', addresses: addresses.map(({ address }) => address) })
  const wire = await connect(target, limits, addresses, options)
  try {
    start('greeting')
    const greeting = await wire.expect(limits.greetingMs)
    if (greeting.code !== 220) throw fault(target, 'does not accept email', greeting)
    onStep?.({ step: 'greeting', text: replyText(greeting) })
    start('ehlo')
    let extensions = await hello(wire, target, limits, onStep)
    const upgraded = await secure(wire, target, extensions, limits, options)
    // Extensions announced before TLS must be discarded (RFC 3207).
    if (upgraded) {
      start('ehlo')
      extensions = await hello(wire, target, limits, onStep)
    }
    if (oauth || target.credentials) {
      start('auth')
      const mayAuthenticate = upgraded || target.tls === 'implicit' || target.tls === 'off' || isLoopback(target.host)
      if (!mayAuthenticate)
        throw new RelayFault('a password is not sent without encryption unless the SMTP URL contains tls=off')
      const dialogue = { wire, target, methods: extensions.auth, commandMs: limits.commandMs }
      const method = oauth
        ? await authenticateByToken(dialogue, {
            ...oauth,
            accessToken: () => within(limits.commandMs, target, oauth.accessToken()),
          })
        : await authenticate(dialogue, target.credentials!)
      onStep?.({ step: 'auth', method })
    }
    return { wire, extensions }
  } catch (error) {
    wire.lose('the connection could not be opened')
    throw error
  }
}

/** Every limit ends at the deadline of the handshake. */
function withDeadline(limits: SmtpLimits): Pick<SmtpLimits, 'connectMs' | 'greetingMs' | 'commandMs'> {
  const deadline = performance.now() + limits.handshakeMs
  const left = (ms: number) => Math.max(1, Math.min(ms, deadline - performance.now()))
  return {
    get connectMs() {
      return left(limits.connectMs)
    },
    get greetingMs() {
      return left(limits.greetingMs)
    },
    get commandMs() {
      return left(limits.commandMs)
    },
  }
}

type Limits = ReturnType<typeof withDeadline>

/** Rejects after the time, or with what the promise rejects with, as a `RelayFault`. */
async function within<Result>(ms: number, target: SmtpTarget, promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutOf(target, ms)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } catch (error) {
    if (error instanceof RelayFault) throw error
    throw new RelayFault((error as Error).message, { code: (error as NodeJS.ErrnoException).code })
  } finally {
    clearTimeout(timer)
  }
}

async function connect(
  target: SmtpTarget,
  limits: Limits,
  addresses: ResolvedAddress[] | undefined,
  { ca, onStep, onStepStart }: SmtpOptions,
): Promise<SmtpWire> {
  onStepStart?.('connect')
  const startedAt = performance.now()
  const socket = await openSocket(target, limits.connectMs, addresses)
  onStep?.({
    step: 'connect',
    address: socket.remoteAddress ?? target.host,
    ms: Math.round(performance.now() - startedAt),
  })
  if (target.tls !== 'implicit') return new SmtpWire(target, socket)
  onStepStart?.('tls')
  const secured = await secureSocket(socket, target, limits.connectMs, ca)
  onStep?.({ step: 'tls', ...tlsFactsOf(secured) })
  return new SmtpWire(target, secured)
}

async function hello(
  wire: SmtpWire,
  target: SmtpTarget,
  limits: Limits,
  onStep: SmtpOptions['onStep'],
): Promise<Extensions> {
  const answer = await wire.ask(`EHLO ${target.clientName}`, limits.commandMs)
  if (answer.code === 250) {
    onStep?.({ step: 'ehlo', extensions: answer.lines.slice(1) })
    return readExtensions(answer)
  }
  // Old servers do not support EHLO.
  const plain = await wire.ask(`HELO ${target.clientName}`, limits.commandMs)
  if (plain.code !== 250) throw fault(target, 'rejected our host name', plain)
  onStep?.({ step: 'ehlo', extensions: [] })
  return readExtensions({ code: 250, lines: [] })
}

function readExtensions(answer: Reply): Extensions {
  const offered = new Map(
    answer.lines.slice(1).map((line) => {
      // Some old servers write AUTH=LOGIN.
      const [keyword = '', ...values] = line
        .toUpperCase()
        .replace(/^AUTH=/, 'AUTH ')
        .trim()
        .split(/\s+/)
      return [keyword, values] as const
    }),
  )
  const sizeMax = Number(offered.get('SIZE')?.[0] ?? 0)
  return {
    pipelining: offered.has('PIPELINING'),
    eightBitMime: offered.has('8BITMIME'),
    smtpUtf8: offered.has('SMTPUTF8'),
    startTls: offered.has('STARTTLS'),
    size: offered.has('SIZE'),
    sizeMax: Number.isFinite(sizeMax) ? sizeMax : 0,
    auth: offered.get('AUTH') ?? [],
  }
}

async function secure(
  wire: SmtpWire,
  target: SmtpTarget,
  extensions: Extensions,
  limits: Limits,
  { ca, onStep, onStepStart }: SmtpOptions,
): Promise<boolean> {
  if (target.tls === 'implicit' || target.tls === 'off') return false
  if (!extensions.startTls && target.tls === 'opportunistic') return false
  onStepStart?.('tls')
  if (!extensions.startTls) {
    throw new RelayFault(
      `${addressOf(target)} does not support STARTTLS; add ?tls=off to the SMTP URL to send without encryption`,
    )
  }
  const answer = await wire.ask('STARTTLS', limits.commandMs)
  if (answer.code === 220) {
    const facts = await wire.startTls(limits.connectMs, ca)
    onStep?.({ step: 'tls', ...facts })
    return true
  }
  if (target.tls === 'opportunistic') return false
  throw fault(target, 'rejected STARTTLS', answer)
}

const fault = (target: SmtpTarget, problem: string, reply: Reply) =>
  new RelayFault(`${addressOf(target)} ${problem}: ${replyText(reply)}`, { replyCode: reply.code })
