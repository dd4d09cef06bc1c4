import { type AccountEmail, type AccountEmails, prepareResetEmails } from '../../accounts/accounts.ts'
import type { Carriers } from '../../delivery/delivery.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { newId } from '../../platform/values/ids.ts'
import { accountEmailContent } from './account-email-text.ts'
import { insertAccountEmail, type QueuedAccountEmail } from './queue.sql.ts'

export { deleteExpiredAccountEmails } from './queue.sql.ts'

import { type SystemEmailParts, sendDueEmails } from './send.ts'

const dayMinutes = 24 * 60
/** Emails without a link are sent until then if the mail server is unavailable. */
const noticeMinutes = 3 * dayMinutes

/** An email is not sent after the link in it has expired. */
function expiresInMinutes(email: AccountEmail): number {
  switch (email.kind) {
    case 'password_reset':
    case 'email_confirmation':
      return email.minutes
    case 'invitation':
      return email.days * dayMinutes
    case 'password_changed':
    case 'email_taken':
    case 'email_changed':
      return noticeMinutes
  }
}

export type AccountEmailQueue = AccountEmails & {
  /** Returns undefined if the content was encrypted with another secret. */
  open(content: Buffer): AccountEmail | undefined
}

/** The content is encrypted, because it contains tokens. */
export const createAccountEmails = (box: SecretBox, carriers: Carriers): AccountEmailQueue => ({
  add: async (db, { organizationId, email: recipient }, email) => {
    const content = box.seal(JSON.stringify(email))
    await insertAccountEmail(db, { organizationId, id: newId('msg'), recipient, content }, expiresInMinutes(email))
  },
  open: (content) => {
    const text = box.open(content)
    return text === undefined ? undefined : (JSON.parse(text) as AccountEmail)
  },
  pathOf: (organizationId, options) => carriers.pathOf(organizationId, options),
  pathOfResets: () => carriers.pathOfResets(),
})

export type AccountEmailParts = SystemEmailParts & { accountEmails: AccountEmailQueue }

/**
 * Sends pending account emails. While the mail server is unreachable they stay queued until their links expire. Those that
 * have expired do not delay the others.
 */
export async function sendAccountEmails(parts: AccountEmailParts): Promise<void> {
  const { log, settings, accountEmails } = parts
  await prepareResetEmails(parts)
  const written = ({ organizationId, id, recipient, content: sealed, createdAt, expiresAt }: QueuedAccountEmail) => {
    if (expiresAt.getTime() <= Date.now()) return []
    const email = accountEmails.open(sealed)
    if (!email) {
      log.warn({ email: id }, 'An account email was discarded: it was encrypted with another APP_SECRET')
      return []
    }
    const content = accountEmailContent(email, settings.baseUrl, recipient)
    return [{ organizationId, id, email: recipient, createdAt, content, isPrivate: true }]
  }
  while (await sendDueEmails(parts, 'account', async (claimed) => claimed.flatMap(written)));
}
