import { parseAddressField } from './addresses.ts'
import { readFieldGroups } from './fields.ts'
import { type Header, headerValue, headerValues, type MailParts } from './mail-parts.ts'

/** The fields of a feedback report (RFC 5965, "ARF"). */
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
    feedbackType: /^[a-z-]{1,40}/.exec(headerValue(fields, 'feedback-type').toLowerCase())?.[0] ?? 'abuse',
    recipients: [...new Set([...addresses('original-rcpt-to'), ...addresses('removal-recipient')])],
    envelopeId: headerValue(fields, 'original-envelope-id') || null,
    sender: addresses('original-mail-from')[0] ?? null,
  }
}

const complaintSubject =
  /^\s*(?:complaint about (?:a |the )?message|(?:spam|abuse) (?:complaint|report)\b|e-?mail feedback report)/i

const feedbackType = /\breport-type\s{0,4}=\s{0,4}"?feedback-report\b/i

/**
 * Recognizes complaints without a feedback-report part: loops older than ARF send a plain mail with the message attached, in
 * which Outlook.com marks the recipient, and some loops announce the part and leave it out.
 */
export function isBareComplaint({ headers, returned }: MailParts, words: string, original: Header[]): boolean {
  if (feedbackType.test(headerValue(headers, 'content-type')) || saysComplaint.test(words.slice(0, 2000))) return true
  if (returned.length === 0) return false
  return (
    headerValue(original, 'x-hmxmroriginalrecipient') !== '' || complaintSubject.test(headerValue(headers, 'subject'))
  )
}

// The sentence with which feedback loops begin, with or without the parts that should follow.
const saysComplaint =
  /\bthis is an? (?:\w{1,20} )?e-?mail (?:abuse|spam|complaint|feedback) report\b|\bthis is an? (?:\w{1,20} )?(?:spam|abuse) (?:complaint|report) (?:for|about|regarding)\b/i

/** Fields of a feedback report that were pasted into the text of a mail, on lines of their own or all on one line. */
export function pastedReports(text: string): string[] {
  const head = text.slice(0, 16 * 1024)
  const start = /(?:^|[\s;,])feedback-type[ \t]{0,4}:[ \t]{0,4}[a-z-]{3,40}/i.exec(head)
  if (!start) return []
  const fields = head.slice(start.index).trimStart().slice(0, 4000)
  return [
    fields.replace(
      /[ \t;,]{1,4}(?=(?:user-agent|version|original-[a-z-]{3,20}|removal-recipient|source-ip|arrival-date|received-date|reported-domain):)/gi,
      '\n',
    ),
  ]
}
