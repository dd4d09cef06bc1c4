import type { Db } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import { addAccountEmail } from './account-emails.ts'
import { addNoticeEmails } from './notice-emails.ts'
import { selectOldOrganizations, takeAccountEmails, takeNoticeEmails } from './old-emails.sql.ts'

/** Queues emails to users that processes of 0.1.0, which may run beside this one, have stored and not sent. */
export async function queueOldEmails(db: Db): Promise<void> {
  for (const organizationId of await selectOldOrganizations(db))
    await db.begin(async (tx) => {
      for (const { id, content, createdAt, expiresAt, ...email } of await takeAccountEmails(tx, organizationId)) {
        const times = { createdAt: +createdAt, expiresAt: +expiresAt }
        addAccountEmail(tx, { organizationId, id }, { ...email, ...times, content: content.toString('base64') })
      }
      for (const [noticeId, emails] of groupBy(await takeNoticeEmails(tx, organizationId), (email) => email.noticeId))
        addNoticeEmails(
          tx,
          organizationId,
          noticeId,
          emails.map(({ userId }) => userId),
        )
    })
}
