const words: Record<string, string> = {
  not_subscribed: 'The contact has not subscribed to marketing mail.',
  unsubscribe: 'The contact has unsubscribed from marketing mail.',
  unsubscribed: 'The contact has unsubscribed from marketing mail.',
  hard_bounce: 'An earlier mail to this address came back for good.',
  complaint: 'An earlier mail to this address was reported as spam.',
  manual: 'The address was suppressed by hand.',
  deferred: 'The relay asked to try again later.',
  one_click: 'With the button of the mail program',
  page: 'On the unsubscribe page',
  api: 'In this app or by the API',
  abuse: 'Reported as spam',
  fraud: 'Reported as fraud',
  virus: 'Reported as a virus',
  other: 'Reported for another reason',
}

/** What the service says by a code. What is no code, such as the answer of a relay, stays as it is. */
export const inWords = (said: string) => words[said] ?? said
