import { findAddresses } from './addresses.ts'
import { type DeliveryStatus, readDeliveryStatus } from './delivery-status.ts'
import { type FeedbackReport, isBareComplaint, readFeedbackReport } from './feedback-report.ts'
import { resultOfUnnamed, resultsOfNotice } from './from-notice.ts'
import { resultsOfStatus } from './from-status.ts'
import { headerValue, type MailParts, readMail } from './mail-parts.ts'
import { type OriginalMessage, readersOf, readOriginal } from './original-message.ts'
import { isAutoReply, looksLikeBounce } from './recognize.ts'
import { type BounceResult, complaint, notABounce } from './report.ts'
import { readSesNotification, type SesNotification } from './ses-notification.ts'
import { splitNotice } from './split-notice.ts'

/** A gateway may wrap the bounce it got into a notice of its own. */
const wrappingsMax = 2

export type BounceReport = {
  /** Never empty: a mail that reports nothing has one result of kind `none`. */
  results: BounceResult[]
  /** Of the returned message, without angle brackets. */
  originalMessageId: string | null
  /** Whom the report was sent to and whom it calls the sender: our signed envelope sender may be among them. */
  returnAddresses: string[]
  /** Ids under which relays queued the message. */
  queueIds: string[]
  /** The ENVID given when the message was sent. */
  envelopeId: string | null
}

/** Reads a mail that came to an envelope sender. Takes any bytes, never rejects, and its time grows with the length alone. */
export async function classifyBounce(raw: Uint8Array | string): Promise<BounceReport> {
  return classifyWrapped(raw, 0)
}

async function classifyWrapped(raw: Uint8Array | string, depth: number): Promise<BounceReport> {
  const taken = takeApart(await readMail(raw))
  const results = judgeMail(taken)
  if (results.length > 0) return reportOf(taken, results)
  if (depth < wrappingsMax) {
    const wrapped = await classifyWrapped(taken.returned, depth + 1)
    const readers = new Set([...taken.readers, ...wrapped.returnAddresses])
    if (wrapped.results.some(({ kind }) => kind !== 'none')) return { ...wrapped, returnAddresses: [...readers] }
  }
  return reportOf(taken, [resultOfUnnamed(taken.mail, taken.words, taken.original.recipients[0] ?? null)])
}

type Taken = {
  mail: MailParts
  words: string
  returned: string
  original: OriginalMessage
  statuses: DeliveryStatus[]
  feedback: FeedbackReport[]
  ses: SesNotification | null
  readers: string[]
}

function takeApart(mail: MailParts): Taken {
  const notice = splitNotice(mail.text)
  const returned = mail.returned[0] ?? notice.returned
  const embedded = mail.deliveryStatus.length === 0 && /^final-recipient:/im.test(notice.words)
  return {
    mail,
    words: notice.words,
    returned,
    original: readOriginal(returned),
    statuses: (embedded ? [notice.words] : mail.deliveryStatus).map(readDeliveryStatus),
    feedback: mail.feedbackReports.map(readFeedbackReport),
    ses: readSesNotification(mail.text),
    readers: readersOf(mail),
  }
}

/** Empty when the mail is a bounce but names no recipient. */
function judgeMail({ mail, words, original, statuses, feedback, ses }: Taken): BounceResult[] {
  if (feedback.length > 0 || isBareComplaint(mail, original.headers)) return complaintsOf(feedback, original)
  if (ses && ses.complaints.length > 0) return ses.complaints.map((recipient) => complaint(recipient, ses.feedbackType))
  const own = ownAddresses(mail, original)
  const reported = ses?.recipients ?? statuses.flatMap((status) => status.recipients)
  if (reported.some(({ recipient }) => recipient !== null)) return resultsOfStatus(reported, ses ? '' : words, own)
  if (isAutoReply(mail)) return [notABounce]
  const results = resultsOfNotice(mail, words, own)
  if (!looksLikeBounce(mail, words, results.length > 0)) return [notABounce]
  // Who writes to oneself is sender and recipient at once.
  return results.length > 0
    ? results
    : resultsOfNotice(mail, words, new Set(findAddresses(headerValue(mail.headers, 'from'))))
}

function complaintsOf(feedback: FeedbackReport[], original: OriginalMessage): BounceResult[] {
  const feedbackType = feedback[0]?.feedbackType ?? 'abuse'
  const named = feedback.flatMap(({ recipients }) => recipients)
  const recipients = named.length > 0 ? named : original.recipients
  return recipients.length > 0 ? recipients.map((one) => complaint(one, feedbackType)) : [complaint(null, feedbackType)]
}

/** Addresses in a notice that are on our side of it, so that none of them is taken for the recipient. */
function ownAddresses({ headers }: MailParts, original: OriginalMessage): Set<string> {
  const written = ['from', 'to'].flatMap((name) => findAddresses(headerValue(headers, name)))
  return new Set([...written, ...original.senders])
}

function reportOf({ original, statuses, feedback, ses, readers }: Taken, results: BounceResult[]): BounceReport {
  const reports = [...statuses, ...feedback]
  const senders = reports.flatMap(({ sender }) => sender ?? [])
  return {
    results,
    originalMessageId: original.messageId ?? ses?.messageId ?? null,
    returnAddresses: [...new Set([...readers, ...original.senders, ...senders])],
    queueIds: [...new Set([...statuses, original].flatMap(({ queueIds }) => queueIds))],
    envelopeId: reports.find(({ envelopeId }) => envelopeId)?.envelopeId ?? null,
  }
}
