import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { idName } from '../../../sending/sending.ts'
import type { Verdict } from '../verdicts.ts'
import { at, numberAt, parseJson, textAt, timeOf } from './json.ts'
import { bounceOf, notAuthenticated, type ProviderReport, type ReadReports, type RequestKey } from './provider.ts'

/** Mailgun retries for eight hours. */
const ageMaxSeconds = 12 * 3_600
const aheadMaxSeconds = 300
const timestampPattern = /^\d{10}$/

/** Resolves to false if the signature was used for other content before. */
export type ClaimSignature = (use: { signature: Buffer; content: Buffer; expiresAt: Date }) => Promise<boolean>

/**
 * Webhooks of Mailgun. The signature covers a timestamp and a token but not the content, so each signature is accepted
 * for one content only, and a leaked one cannot be used for anything else. Timestamp and token are signed without a
 * separator, so the signature itself is stored, independent of how the text is split.
 */
export function mailgunReports(signingKey: RequestKey, claim: ClaimSignature): ReadReports {
  return async ({ body, turns }) => {
    const posted = await parseJson(body, turns)
    if (signingKey !== undefined) await verifySignature(signingKey, claim, { posted, body })
    return reportOf(at(posted, 'event-data'))
  }
}

type Posted = { posted: unknown; body: Buffer }

async function verifySignature(signingKey: string, claim: ClaimSignature, { posted, body }: Posted): Promise<void> {
  const signed = signatureOf(posted)
  const expected = createHmac('sha256', signingKey).update(`${signed.timestamp}${signed.token}`).digest()
  const given = Buffer.from(signed.signature, 'hex')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw notAuthenticated()
  if (!timestampPattern.test(signed.timestamp)) throw notAuthenticated()
  const age = Date.now() / 1000 - Number(signed.timestamp)
  if (!(age <= ageMaxSeconds && age >= -aheadMaxSeconds)) throw notAuthenticated()
  const content = createHash('sha256').update(body).digest()
  const expiresAt = new Date((Number(signed.timestamp) + ageMaxSeconds) * 1000)
  // The same request again is a retry of one that we did not answer in time.
  if (!(await claim({ signature: expected, content, expiresAt }))) throw notAuthenticated()
}

function signatureOf(posted: unknown): { timestamp: string; token: string; signature: string } {
  const [timestamp, token, signature] = ['timestamp', 'token', 'signature'].map((key) =>
    textAt(posted, 'signature', key),
  )
  if (!timestamp || !token || !signature) throw notAuthenticated()
  return { timestamp, token, signature }
}

function reportOf(event: unknown): ProviderReport[] {
  const verdict = verdictOf(event)
  if (!verdict) return []
  const clues = {
    signed: [textAt(event, 'user-variables', idName) ?? ''],
    messageIds: [textAt(event, 'message', 'headers', 'message-id') ?? ''],
    recipient: textAt(event, 'recipient'),
  }
  return [{ clues, occurredAt: timeOf(at(event, 'timestamp')), verdict }]
}

function verdictOf(event: unknown): Verdict | undefined {
  const name = textAt(event, 'event')
  if (name === 'complained') return { kind: 'complaint', feedbackType: 'abuse' }
  // Mailgun retries temporary failures.
  if (name !== 'failed' || textAt(event, 'severity') !== 'permanent') return undefined
  const status = at(event, 'delivery-status')
  const code = numberAt(status, 'code')
  return bounceOf({
    isPermanent: textAt(event, 'reason') === 'bounce' || textAt(event, 'reason') === 'suppress-bounce',
    status: textAt(status, 'enhanced-code'),
    // Codes from 600 are specific to Mailgun.
    replyCode: code !== undefined && code < 600 ? code : undefined,
    text: textAt(status, 'message') ?? textAt(status, 'description') ?? '',
  })
}
