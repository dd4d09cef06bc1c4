import { type Reply, replyText } from './reply.ts'
import { isLoopback, type SmtpTarget } from './url.ts'
import { addressOf, openSocket, RelayFault, SmtpWire } from './wire.ts'

/** Timeouts of each step. RFC 5321 suggests minutes, but a configured relay usually replies within seconds. */
export type SmtpLimits = {
  connectMs: number
  greetingMs: number
  commandMs: number
  /** For each piece of a large email. */
  pieceMs: number
  dataEndMs: number
}

export const smtpLimits: SmtpLimits = {
  connectMs: 10_000,
  greetingMs: 30_000,
  commandMs: 30_000,
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

/** Connects and completes the handshake, so that an email can be sent. Throws `RelayFault` if that fails. */
export async function openWire(
  target: SmtpTarget,
  limits: SmtpLimits,
  ca: string | undefined,
): Promise<{ wire: SmtpWire; extensions: Extensions }> {
  const wire = new SmtpWire(target, await openSocket(target, limits.connectMs, ca))
  try {
    const greeting = await wire.expect(limits.greetingMs)
    if (greeting.code !== 220) throw fault(target, 'does not accept email', greeting)
    let extensions = await hello(wire, target, limits)
    const upgraded = await secure(wire, target, extensions, limits, ca)
    // Extensions announced before TLS must be discarded (RFC 3207).
    if (upgraded) extensions = await hello(wire, target, limits)
    if (target.credentials) {
      const mayAuthenticate = upgraded || target.tls === 'implicit' || target.tls === 'off' || isLoopback(target.host)
      if (!mayAuthenticate)
        throw new RelayFault('a password is not sent without encryption unless the SMTP URL contains tls=off')
      await authenticate(wire, target, target.credentials, extensions.auth, limits)
    }
    return { wire, extensions }
  } catch (error) {
    wire.lose('the connection could not be opened')
    throw error
  }
}

async function hello(wire: SmtpWire, target: SmtpTarget, limits: SmtpLimits): Promise<Extensions> {
  const answer = await wire.ask(`EHLO ${target.clientName}`, limits.commandMs)
  if (answer.code === 250) return readExtensions(answer)
  // Old servers do not support EHLO.
  const plain = await wire.ask(`HELO ${target.clientName}`, limits.commandMs)
  if (plain.code !== 250) throw fault(target, 'rejected our host name', plain)
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
  limits: SmtpLimits,
  ca: string | undefined,
): Promise<boolean> {
  if (target.tls === 'implicit' || target.tls === 'off') return false
  if (!extensions.startTls) {
    if (target.tls === 'opportunistic') return false
    throw new RelayFault(
      `${addressOf(target)} does not support STARTTLS; add ?tls=off to the SMTP URL to send without encryption`,
    )
  }
  const answer = await wire.ask('STARTTLS', limits.commandMs)
  if (answer.code === 220) {
    await wire.startTls(limits.connectMs, ca)
    return true
  }
  if (target.tls === 'opportunistic') return false
  throw fault(target, 'rejected STARTTLS', answer)
}

async function authenticate(
  wire: SmtpWire,
  target: SmtpTarget,
  { user, password }: { user: string; password: string },
  methods: string[],
  { commandMs }: SmtpLimits,
): Promise<void> {
  let answer: Reply
  if (methods.includes('PLAIN')) {
    answer = await wire.ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, commandMs)
  } else if (methods.includes('LOGIN')) {
    answer = await wire.ask('AUTH LOGIN', commandMs)
    if (answer.code === 334) answer = await wire.ask(base64(user), commandMs)
    if (answer.code === 334) answer = await wire.ask(base64(password), commandMs)
  } else {
    throw new RelayFault(
      `${addressOf(target)} supports neither AUTH PLAIN nor AUTH LOGIN, but the SMTP URL contains a password`,
    )
  }
  if (answer.code !== 235) throw fault(target, 'rejected the user name or password', answer)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const fault = (target: SmtpTarget, what: string, reply: Reply) =>
  new RelayFault(`${addressOf(target)} ${what}: ${replyText(reply)}`)
