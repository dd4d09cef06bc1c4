import { createHash, timingSafeEqual } from 'node:crypto'
import { idName } from '../../../sending/sending.ts'
import type { Verdict } from '../verdicts.ts'
import { at, parseJson, textAt, timeOf } from './json.ts'
import { bounceOf, notAuthenticated, type ProviderReport, type ReadReports, type RequestKey } from './provider.ts'

/** Postmark does not sign requests. It sends the password of the webhook URL, with any user name. */
export function postmarkReports(password: RequestKey): ReadReports {
  const expected = password === undefined ? undefined : digest(password)
  return async ({ headers, body, turns }) => {
    if (expected) verifyPassword(expected, headers.authorization ?? '')
    return reportOf(await parseJson(body, turns))
  }
}

function verifyPassword(expected: Buffer, authorization: string): void {
  const [, basic] = /^Basic ([A-Za-z0-9+/=_-]{1,2000})$/i.exec(authorization) ?? []
  const given = Buffer.from(basic ?? '', 'base64').toString()
  const isKnown = timingSafeEqual(digest(given.slice(given.indexOf(':') + 1)), expected)
  if (!isKnown || !given.includes(':')) throw notAuthenticated()
}

const digest = (text: string) => createHash('sha256').update(text).digest()

function reportOf(event: unknown): ProviderReport[] {
  const verdict = verdictOf(event)
  if (!verdict) return []
  const clues = { signed: [textAt(event, 'Metadata', idName) ?? ''], messageIds: [] }
  return [{ clues, occurredAt: timeOf(at(event, 'BouncedAt')), verdict }]
}

/** Bounce types of Postmark that are failures; the others are replies, delays and tests. */
const failures = new Set([
  'HardBounce',
  'SoftBounce',
  'DnsError',
  'BadEmailAddress',
  'ManuallyDeactivated',
  'SpamNotification',
  'DMARCPolicy',
  'Blocked',
  'VirusNotification',
  'Undeliverable',
])
const permanent = new Set(['HardBounce', 'BadEmailAddress'])

function verdictOf(event: unknown): Verdict | undefined {
  const type = textAt(event, 'Type') ?? ''
  if (textAt(event, 'RecordType') === 'SpamComplaint' || type === 'SpamComplaint')
    return { kind: 'complaint', feedbackType: 'abuse' }
  if (!failures.has(type)) return undefined
  return bounceOf({
    isPermanent: permanent.has(type),
    text: textAt(event, 'Details') ?? textAt(event, 'Description') ?? '',
  })
}
