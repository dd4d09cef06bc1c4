/** The fields that show their errors themselves. */
export const shownPaths = [
  'name',
  'subject',
  'html',
  'text',
  'from_name',
  'from_email',
  'reply_to',
  'preheader',
  'utm.source',
  'utm.medium',
  'utm.campaign',
  'utm.content',
]
