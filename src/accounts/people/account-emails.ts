import type { Tx } from '../../platform/db/db.ts'
import type { EmailPath } from '../../platform/values/email-path.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Role } from './accounts.sql.ts'

/** What an account email is about. Its text is written when it is sent. */
export type AccountEmail =
  | { kind: 'password_reset'; token: string; minutes: number }
  | { kind: 'password_changed' }
  | { kind: 'invitation'; token: string; organizationName: string; invitedBy: string; role: Role; days: number }
  | { kind: 'email_confirmation'; token: string; oldEmail: string; minutes: number }
  | { kind: 'email_taken' }
  | { kind: 'email_changed'; newEmail: string }

export type AccountEmails = {
  /** Adds an account email to the queue, in the transaction of its cause. */
  add(tx: Tx, to: { organizationId: OrganizationId; email: string }, email: AccountEmail): void
  pathOf(organizationId: OrganizationId, options: { isPrivate: boolean }): Promise<EmailPath>
  /** `depends`: on the organization of the user, which must not be revealed. */
  pathOfResets(): Promise<EmailPath | 'depends'>
}
