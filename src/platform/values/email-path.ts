/** What happens to an email to a user that is written now. One that is not sent is kept in the built-in inbox. */
export const emailPaths = ['sending', 'waiting', 'not_sent'] as const
export type EmailPath = (typeof emailPaths)[number]
