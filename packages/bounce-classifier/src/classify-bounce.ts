import { findAddresses, recipientsMax } from './addresses.ts'
import { type DeliveryStatus, type ProviderEvent, readDeliveryStatus } from './delivery-status.ts'
import { type FeedbackReport, isBareComplaint, pastedReports, readFeedbackReport } from './feedback-report.ts'
import { resultOfUnnamed, resultsOfNotice } from './from-notice.ts'
import { type Reported, resultsOfStatus } from './from-status.ts'
import { headerValue, type MailParts, readMail } from './mail-parts.ts'
import { type OriginalMessage, readersOf, readOriginal } from './original-message.ts'
import { findProviderEvent } from './provider-event.ts'
import { deliveredRecipients, isAutoReply, looksLikeBounce } from './recognize.ts'
import { type BounceResult, complaint, delivered, notABounce } from './report.ts'
import { checksRecipients } from './reporters.ts'
import { splitNotice } from './split-notice.ts'

/** A gateway may wrap the bounce that it received into a notice of its own. */
const wrappingsMax = 2

export type BounceReport = {
  /** Never empty: a mail that reports nothing has one result of kind `none`. */
  results: BounceResult[]
  /** Of the returned message, without angle brackets. */
  originalMessageId: string | null
  /** The recipients of the report and the sender of the returned message. The signed envelope sender may be among them. */
  returnAddresses: string[]
  /** Ids under which relays queued the message. */
  queueIds: string[]
  /** The ENVID given when the message was sent. */
  envelopeId: string | null
}

/** Reads a mail to an envelope sender. Accepts any bytes, never rejects, and takes time in proportion to the length. */
export async function classifyBounce(raw: Uint8Array | string): Promise<BounceReport> {
  return classifyWrapped(raw, 0)
}

async function classifyWrapped(raw: Uint8Array | string, depth: number): Promise<BounceReport> {
  const contents = readContents(await readMail(raw))
  const results = judgeMail(contents)
  if (results.length > 0) return reportOf(contents, results)
  if (depth < wrappingsMax) {
    const wrapped = await classifyWrapped(contents.returned, depth + 1)
    const readers = new Set([...contents.readers, ...wrapped.returnAddresses])
    if (wrapped.results.some(({ kind }) => kind !== 'none')) return { ...wrapped, returnAddresses: [...readers] }
  }
  return reportOf(contents, [resultOfUnnamed(contents.mail, contents.words, contents.original.recipients[0] ?? null)])
}

type Contents = {
  mail: MailParts
  words: string
  returned: string
  original: OriginalMessage
  statuses: DeliveryStatus[]
  feedback: FeedbackReport[]
  event: ProviderEvent | null
  readers: string[]
}

function readContents(mail: MailParts): Contents {
  const notice = splitNotice(mail.text)
  const returned = mail.returned[0] ?? notice.returned
  const embedded = mail.deliveryStatus.length === 0 && /^final-recipient:/im.test(notice.words)
  return {
    mail,
    words: notice.words,
    returned,
    original: readOriginal(returned),
    statuses: (embedded ? [notice.words] : mail.deliveryStatus).map(readDeliveryStatus),
    feedback: [...mail.feedbackReports, ...pastedReports(mail.text)].map(readFeedbackReport),
    event: findProviderEvent(mail.text),
    readers: readersOf(mail),
  }
}

/** Returns an empty list if the mail is a bounce but names no recipient. */
function judgeMail({ mail, words, original, statuses, feedback, event }: Contents): BounceResult[] {
  if (feedback.length > 0 || isBareComplaint(mail, words, original.headers)) return complaintsOf(feedback, original)
  if (event?.isComplaint) return complaintsAbout(event.complaints, event.feedbackType)
  const own = ownAddresses(mail, original)
  const reported: Reported[] = event?.recipients ?? statuses.flatMap((status) => status.recipients)
  if (reported.some(({ recipient }) => recipient !== null)) {
    return resultsOfStatus(reported, event ? '' : words, own, checksRecipients(mail, words))
  }
  if (event || isAutoReply(mail)) return [notABounce]
  const confirmed = deliveredRecipients(mail, words, own)
  if (confirmed) return confirmed.map((recipient) => delivered(recipient, null))
  const results = resultsOfNotice(mail, words, own)
  if (!looksLikeBounce(mail, words, results.length > 0)) return [notABounce]
  // People write to their own address: then the sender is the recipient as well.
  return results.length > 0
    ? results
    : resultsOfNotice(mail, words, new Set(findAddresses(headerValue(mail.headers, 'from'))))
}

function complaintsOf(feedback: FeedbackReport[], original: OriginalMessage): BounceResult[] {
  const feedbackType = feedback[0]?.feedbackType ?? 'abuse'
  const named = feedback.flatMap(({ recipients }) => recipients)
  return complaintsAbout(named.length > 0 ? named : original.recipients, feedbackType)
}

function complaintsAbout(recipients: string[], feedbackType: string): BounceResult[] {
  if (recipients.length === 0) return [complaint(null, feedbackType)]
  return [...new Set(recipients)].slice(0, recipientsMax).map((one) => complaint(one, feedbackType))
}

/** Addresses of the sender's side, which are never the recipient of the failed mail. */
function ownAddresses({ headers }: MailParts, original: OriginalMessage): Set<string> {
  const written = ['from', 'to'].flatMap((name) => findAddresses(headerValue(headers, name)))
  return new Set([...written, ...original.senders])
}

function reportOf({ original, statuses, feedback, event, readers }: Contents, results: BounceResult[]): BounceReport {
  const reports = [...statuses, ...feedback]
  const senders = reports.flatMap(({ sender }) => sender ?? [])
  return {
    results,
    originalMessageId: original.messageId ?? event?.messageId ?? null,
    returnAddresses: [...new Set([...readers, ...original.senders, ...senders])],
    queueIds: [...new Set([...statuses, original].flatMap(({ queueIds }) => queueIds))],
    envelopeId: reports.find(({ envelopeId }) => envelopeId)?.envelopeId ?? null,
  }
}
