import { parseAddressField } from './addresses.ts'
import { readFieldGroups } from './fields.ts'
import { type Header, headerValue, headerValues, type MailParts } from './mail-parts.ts'

/** What a feedback report (RFC 5965, "ARF") says. */
export type FeedbackReport = {
  feedbackType: string
  recipients: string[]
  envelopeId: string | null
  sender: string | null
}

export function readFeedbackReport(text: string): FeedbackReport {
  const fields = readFieldGroups(text).flat()
  const addresses = (name: string) => headerValues(fields, name).flatMap((value) => parseAddressField(value) ?? [])
  return {
    feedbackType: headerValue(fields, 'feedback-type').toLowerCase() || 'abuse',
    recipients: [...new Set([...addresses('original-rcpt-to'), ...addresses('removal-recipient')])],
    envelopeId: headerValue(fields, 'original-envelope-id') || null,
    sender: addresses('original-mail-from')[0] ?? null,
  }
}

const complaintSubject =
  /^\s*(?:complaint about (?:a |the )?message|(?:spam|abuse) (?:complaint|report)\b|e-?mail feedback report)/i

/** Loops older than ARF send the complaint as a plain mail around the message: Outlook.com marks the copy. */
export function isBareComplaint({ headers, returned }: MailParts, original: Header[]): boolean {
  if (returned.length === 0) return false
  return (
    headerValue(original, 'x-hmxmroriginalrecipient') !== '' || complaintSubject.test(headerValue(headers, 'subject'))
  )
}
