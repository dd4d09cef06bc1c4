import type { RecipientStatus } from './delivery-status.ts'

/** Amazon SES tells of bounces and complaints in JSON, which its topics also send by mail. */
export type SesNotification = {
  recipients: RecipientStatus[]
  complaints: string[]
  feedbackType: string
  messageId: string | null
}

export function readSesNotification(text: string): SesNotification | null {
  const json = parseJson(text)
  const type = textOf(json?.notificationType ?? json?.eventType)
  if (!json || type === '') return null
  const mail = objectOf(json.mail)
  const complaint = objectOf(json.complaint)
  return {
    recipients: [...bounced(objectOf(json.bounce)), ...delivered(objectOf(json.delivery))],
    complaints: listOf(complaint.complainedRecipients).flatMap(addressOf),
    feedbackType: textOf(complaint.complaintFeedbackType) || 'abuse',
    messageId: textOf(objectOf(mail.commonHeaders).messageId).replace(/^<|>$/g, '') || null,
  }
}

type Json = Record<string, unknown>

function parseJson(text: string): Json | null {
  if (!/^\s*\{/.test(text)) return null
  // The topic's footer comes after a signature line; relays may break a long line anywhere.
  const body = text.split(/\n--\s*\n/, 1)[0]!
  for (const candidate of [body, body.replace(/!?\n ?/g, '')]) {
    try {
      const parsed: unknown = JSON.parse(candidate)
      return objectOf(parsed)
    } catch {}
  }
  return null
}

function bounced(bounce: Json): RecipientStatus[] {
  const permanent = textOf(bounce.bounceType).toLowerCase() === 'permanent'
  return listOf(bounce.bouncedRecipients).flatMap((one) =>
    addressOf(one).map((recipient) => ({
      recipient,
      action: 'failed' as const,
      status: textOf(objectOf(one).status) || (permanent ? '5.0.0' : '4.0.0'),
      diagnostic: textOf(objectOf(one).diagnosticCode).replace(/^smtp;\s*/i, ''),
    })),
  )
}

function delivered(delivery: Json): RecipientStatus[] {
  return listOf(delivery.recipients).flatMap((one) => {
    const recipient = textOf(one).toLowerCase()
    return recipient === ''
      ? []
      : [{ recipient, action: 'delivered' as const, status: textOf(delivery.smtpResponse), diagnostic: '' }]
  })
}

function addressOf(one: unknown): string[] {
  const address = textOf(objectOf(one).emailAddress).toLowerCase()
  return address === '' ? [] : [address]
}

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
