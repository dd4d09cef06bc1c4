const descriptions: Record<string, string> = {
  not_subscribed: 'The contact is not subscribed to marketing email.',
  unsubscribe: 'The contact unsubscribed from marketing email.',
  unsubscribed: 'The contact unsubscribed from marketing email.',
  hard_bounce: 'A previous email to this address hard-bounced.',
  complaint: 'A previous email to this address was reported as spam.',
  manual: 'The address was suppressed manually.',
  deferred: 'The mail server asked to try again later.',
  one_click: 'Unsubscribe button of the email client',
  page: 'Unsubscribe page',
  api: 'In the app or through the API',
  abuse: 'Marked as spam by the recipient',
  fraud: 'Reported as fraud',
  virus: 'Reported as a virus',
  other: 'Reported for another reason',
}

/** The reason of a bounce: “mailbox_full” as “Mailbox full”. */
export function bounceReasonText(reason: string): string {
  const text = reason.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The text for a code of the API. Other text, such as the reply of a mail server, is returned as it is. */
export const describe = (text: string) =>
  descriptions[text] ?? (/^[a-z]+(?:_[a-z]+)*$/.test(text) ? bounceReasonText(text) : text)
