import type { Writer } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { newId, type OrganizationId } from '../values/ids.ts'
import { insertAccountMail } from './account-mails.sql.ts'
import type { Role } from './accounts.sql.ts'

export {
  claimAccountMails,
  deleteAccountMails,
  deleteExpiredAccountMails,
  hasAccountMailWork,
  postponeAccountMails,
} from './account-mails.sql.ts'

/** What an account email is about. Its text is written when it is sent. */
export type AccountMail =
  | { kind: 'password_reset'; token: string; minutes: number }
  | { kind: 'password_changed' }
  | { kind: 'invitation'; token: string; organizationName: string; invitedBy: string; role: Role; days: number }
  | { kind: 'email_confirmation'; token: string; oldEmail: string; minutes: number }
  | { kind: 'email_taken' }
  | { kind: 'email_changed'; newEmail: string }

const dayMinutes = 24 * 60
/** Emails without a link are sent until then if the mail server is unavailable. */
const noticeMinutes = 3 * dayMinutes

/** An email is not sent after the link in it has expired. */
function expiresInMinutes(mail: AccountMail): number {
  switch (mail.kind) {
    case 'password_reset':
    case 'email_confirmation':
      return mail.minutes
    case 'invitation':
      return mail.days * dayMinutes
    case 'password_changed':
    case 'email_taken':
    case 'email_changed':
      return noticeMinutes
  }
}

export type MailQueue = {
  /** Stores an account email for sending, in the transaction of its cause. */
  add(db: Writer, to: { organizationId: OrganizationId; email: string }, mail: AccountMail): Promise<void>
  /** Returns undefined if the content was encrypted with another secret. */
  open(content: Buffer): AccountMail | undefined
}

/** The queue of account emails. Their content is encrypted, because it contains tokens. */
export function createMailQueue(box: SecretBox): MailQueue {
  return {
    add: (db, { organizationId, email }, mail) => {
      const content = box.seal(JSON.stringify(mail))
      return insertAccountMail(
        db,
        { organizationId, id: newId('msg'), recipient: email, content },
        expiresInMinutes(mail),
      )
    },
    open: (content) => {
      const text = box.open(content)
      return text === undefined ? undefined : (JSON.parse(text) as AccountMail)
    },
  }
}
