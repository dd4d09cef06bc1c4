import { findAddresses } from './addresses.ts'
import type { ProviderEvent } from './delivery-status.ts'
import { type Json, listOf, objectOf, textOf } from './json.ts'

/**
 * Reads a notification or an event of Amazon SES, as SNS delivers it over HTTP and by mail. Returns null for any other
 * JSON, and an event without recipients for those that are neither a bounce, a complaint nor a delivery.
 */
export function readSesEvent(json: unknown): ProviderEvent | null {
  const event = objectOf(json)
  const type = textOf(event.notificationType) || textOf(event.eventType)
  if (type === '') return null
  const headers = objectOf(objectOf(event.mail).commonHeaders)
  const complaint = objectOf(event.complaint)
  return {
    recipients: [...bounced(objectOf(event.bounce)), ...delivered(objectOf(event.delivery))],
    complaints: listOf(complaint.complainedRecipients).flatMap(addressOf),
    isComplaint: type.toLowerCase() === 'complaint',
    feedbackType: textOf(complaint.complaintFeedbackType) || 'abuse',
    messageId: textOf(headers.messageId).replace(/^<|>$/g, '') || null,
  }
}

function bounced(bounce: Json): ProviderEvent['recipients'] {
  const isPermanent = textOf(bounce.bounceType).toLowerCase() === 'permanent'
  const detail = detailOfSubType[textOf(bounce.bounceSubType)] ?? '0.0'
  return listOf(bounce.bouncedRecipients).map((one) => ({
    recipient: addressOf(one)[0] ?? null,
    action: 'failed' as const,
    status: textOf(objectOf(one).status) || `${isPermanent ? '5' : '4'}.${detail}`,
    diagnostic: textOf(objectOf(one).diagnosticCode).replace(/^smtp;\s{0,8}/i, ''),
    isPermanent,
  }))
}

// The sub types with a more precise meaning than permanent or transient.
const detailOfSubType: Record<string, string> = {
  NoEmail: '1.1',
  MailboxFull: '2.2',
  MessageTooLarge: '3.4',
  ContentRejected: '6.0',
  AttachmentRejected: '6.0',
}

function delivered(delivery: Json): ProviderEvent['recipients'] {
  return listOf(delivery.recipients).flatMap((one) => {
    const recipient = textOf(one).toLowerCase()
    if (recipient === '') return []
    const status = textOf(delivery.smtpResponse)
    return [{ recipient, action: 'delivered' as const, status, diagnostic: '', isPermanent: false }]
  })
}

function addressOf(one: unknown): string[] {
  return findAddresses(textOf(objectOf(one).emailAddress)).slice(0, 1)
}
