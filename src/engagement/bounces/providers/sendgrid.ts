import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { Pacer } from '../../../platform/runtime/pacer.ts'
import { SetupFault } from '../../../platform/values/errors.ts'
import { idName } from '../../../sending/sending.ts'
import type { Verdict } from '../verdicts.ts'
import { at, parseJson, textAt, timeOf } from './json.ts'
import {
  bounceOf,
  notAuthenticated,
  type ProviderReport,
  type ProviderRequest,
  type ReadReports,
  type RequestKey,
  reportsMax,
} from './provider.ts'

/**
 * The event webhook of SendGrid, signed with ECDSA. Repeating a signed request has no effect, so signatures are not
 * stored.
 */
export function sendgridReports(publicKey: RequestKey): ReadReports {
  const key = publicKey === undefined ? undefined : readKey(publicKey)
  return async (request) => {
    if (key) verifySignature(key, request)
    const events = await parseJson(request.body, request.turns)
    const reports: ProviderReport[] = []
    const pacer = new Pacer(request.turns)
    for (const event of Array.isArray(events) ? events : [events]) {
      if (pacer.isDue) await pacer.turn()
      reports.push(...reportOf(event))
      // More are refused anyway.
      if (reports.length > reportsMax) break
    }
    return reports
  }
}

function verifySignature(key: KeyObject, { headers, body }: ProviderRequest): void {
  const signature = headers['x-twilio-email-event-webhook-signature']
  const timestamp = headers['x-twilio-email-event-webhook-timestamp']
  if (typeof signature !== 'string' || typeof timestamp !== 'string') throw notAuthenticated()
  const signed = Buffer.concat([Buffer.from(timestamp), body])
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64'))) throw notAuthenticated()
}

/** As SendGrid shows it: base64 of the DER, without PEM headers. */
function readKey(text: string): KeyObject {
  try {
    const base64 = text.replace(/-----[^-]+-----|\s+/g, '')
    return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
  } catch {
    throw new SetupFault('PROVIDER_SENDGRID_KEY must be the verification key that SendGrid shows.')
  }
}

function reportOf(event: unknown): ProviderReport[] {
  const verdict = verdictOf(event)
  if (!verdict) return []
  const clues = {
    signed: [textAt(event, idName) ?? ''],
    messageIds: [textAt(event, 'smtp-id') ?? ''],
    recipient: textAt(event, 'email'),
  }
  return [{ clues, occurredAt: timeOf(at(event, 'timestamp')), verdict }]
}

function verdictOf(event: unknown): Verdict | undefined {
  switch (textAt(event, 'event')) {
    case 'bounce':
      return bounceOf({
        // "blocked" is a rejection of this email, not of the address.
        isPermanent: textAt(event, 'type') !== 'blocked',
        status: textAt(event, 'status'),
        text: textAt(event, 'reason') ?? '',
      })
    // Not attempted, because the address bounced before.
    case 'dropped':
      return textAt(event, 'reason') === 'Bounced Address'
        ? bounceOf({ isPermanent: true, status: textAt(event, 'status'), text: 'Bounced Address' })
        : undefined
    case 'spamreport':
      return { kind: 'complaint', feedbackType: 'abuse' }
    default:
      return undefined
  }
}
