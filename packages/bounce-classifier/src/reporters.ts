import type { MailParts } from './mail-parts.ts'
import { anyPattern } from './rule-usage.ts'

const headersMax = 100
const headerCharsMax = 300
const wordsCharsMax = 4000

/**
 * Systems that report "no such user" only for a recipient that was refused, although their notices never name the refused
 * SMTP command: gateways that check recipients before they accept a mail, and carriers that look up their own subscribers.
 * Matched against the headers, the words and the status fields of a report.
 */
const recipientChecking = [
  // McAfee Email Gateway, formerly WebShield. Sendmail uses the same sentence with more hyphens.
  /^x-nai-header: .{0,80}mcafee|^[ \t]{0,20}--- the following addresses had delivery problems ---[ \t]{0,20}$/im,
  // Symantec Email Security.cloud, formerly MessageLabs.
  /^(?:from|x-msg-ref|reporting-mta): ?.{0,120}[@.]messagelabs\.com\b/im,
  // The SMTP service of Windows, as used by Outlook.com and Exchange.
  /^x-dsncontext: \w|^this is an automatically generated delivery status notification/im,
  // Trend Micro InterScan.
  /^from: .{0,80}interscan|\bmessage from interscan\b/im,
  // Ipswitch IMail.
  /^x-mailer: <smtp32 /im,
  // Verizon Wireless.
  /^from: .{0,120}[@.](?:vtext|vzwpix)\.com\b/im,
]

/** Returns true if "no such user" in this report means that the recipient was refused, whichever command it answered. */
export function checksRecipients({ headers, deliveryStatus }: MailParts, words: string): boolean {
  const lines = headers.slice(0, headersMax).map(({ name, value }) => `${name}: ${value.slice(0, headerCharsMax)}`)
  const texts = [words, ...deliveryStatus.slice(0, 1)].map((text) => text.slice(0, wordsCharsMax))
  return anyPattern(recipientChecking, [...lines, ...texts].join('\n'))
}
