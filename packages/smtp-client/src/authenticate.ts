import { type Reply, replyText } from './reply.ts'
import { addressOf, RelayFault } from './socket.ts'
import type { SmtpTarget } from './url.ts'
import type { SmtpWire } from './wire.ts'

/** Signs in with an access token of OAuth 2 (XOAUTH2) instead of a password. */
export type OAuthSignIn = {
  user: string
  /** Called for each connection. Rejects with the reason if there is no valid token. */
  accessToken: () => Promise<string>
  /** Called if the relay does not accept the token. */
  onRejected?: () => void
}

type Dialogue = { wire: SmtpWire; target: SmtpTarget; methods: readonly string[]; commandMs: number }

/** Returns the method that was used. Throws `RelayFault` if the relay rejects the credentials. */
export async function authenticate(
  { wire, target, methods, commandMs }: Dialogue,
  { user, password }: { user: string; password: string },
): Promise<string> {
  const both = base64(`\0${user}\0${password}`)
  let answer: Reply
  let method: string
  if (methods.includes('PLAIN')) {
    method = 'PLAIN'
    answer = await wire.ask(`AUTH PLAIN ${both}`, commandMs)
  } else if (methods.includes('LOGIN')) {
    method = 'LOGIN'
    answer = await wire.ask('AUTH LOGIN', commandMs)
    if (answer.code === 334) answer = await wire.ask(base64(user), commandMs)
    if (answer.code === 334) answer = await wire.ask(base64(password), commandMs)
  } else {
    throw new RelayFault(
      `${addressOf(target)} supports neither AUTH PLAIN nor AUTH LOGIN, but the SMTP URL contains a password`,
    )
  }
  if (answer.code === 235) return method
  throw rejection(target, 'rejected the user name or password', answer.code, replyText(answer), [
    password,
    base64(password),
    both,
  ])
}

export async function authenticateByToken(
  { wire, target, methods, commandMs }: Dialogue,
  { user, accessToken, onRejected }: OAuthSignIn,
): Promise<string> {
  if (!methods.includes('XOAUTH2'))
    throw new RelayFault(`${addressOf(target)} does not support AUTH XOAUTH2, which OAuth 2 needs`)
  const token = await accessToken()
  const sent = base64(`user=${user}\x01auth=Bearer ${token}\x01\x01`)
  let answer = await wire.ask(`AUTH XOAUTH2 ${sent}`, commandMs)
  let reason = ''
  if (answer.code === 334) {
    // The reason, which must be acknowledged with an empty line before the final reply.
    reason = reasonOf(answer.lines[0] ?? '')
    answer = await wire.ask('', commandMs)
  }
  if (answer.code === 235) return 'XOAUTH2'
  onRejected?.()
  const text = reason ? `${replyText(answer)} (${reason})` : replyText(answer)
  throw rejection(target, 'rejected the access token', answer.code, text, [token, sent])
}

const reasonLengthMax = 300

/** The JSON that Google and Microsoft send in base64, on one line. */
function reasonOf(challenge: string): string {
  const text = Buffer.from(challenge, 'base64')
    .toString()
    .replace(/[\p{Cc}\s]+/gu, ' ')
  try {
    const fields = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return fields
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join(', ')
      .slice(0, reasonLengthMax)
  } catch {
    return text.slice(0, reasonLengthMax)
  }
}

const secretLengthMin = 4

/** Servers may repeat a command in their reply. */
function rejection(
  target: SmtpTarget,
  problem: string,
  replyCode: number,
  text: string,
  secrets: string[],
): RelayFault {
  const shown = secrets.reduce(
    (redacted, secret) => (secret.length < secretLengthMin ? redacted : redacted.replaceAll(secret, '…')),
    text,
  )
  return new RelayFault(`${addressOf(target)} ${problem}: ${shown}`, { replyCode })
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
