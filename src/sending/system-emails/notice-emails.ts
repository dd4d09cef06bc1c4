import type { Tx } from '../../platform/db/db.ts'
import { type NoticeId, newId, type OrganizationId, toText, type UserId } from '../../platform/values/ids.ts'
import type { EmailContent } from './layout.ts'
import { findNoticeEmails, insertNoticeEmails, type NoticeEmail } from './queue.sql.ts'
import { type SystemEmailParts, sendDueEmails } from './send.ts'

const tryForDays = 3

/** Stores an email about a notice for each of the users, in the transaction of the notice. */
export const addNoticeEmails = (tx: Tx, organizationId: OrganizationId, noticeId: NoticeId, userIds: UserId[]) =>
  insertNoticeEmails(
    tx,
    organizationId,
    noticeId,
    userIds.map((userId) => ({ id: newId('msg'), userId })),
  )

/** Sends the emails about notices. Those that are no longer wanted do not delay the others. */
export async function sendNoticeEmails(parts: SystemEmailParts): Promise<void> {
  const { db, settings } = parts
  const sendBatch = () =>
    sendDueEmails(parts, 'notice', async (claimed) => {
      const wanted = await findNoticeEmails(db, claimed, tryForDays)
      return wanted.map((notice) => ({
        ...notice,
        content: contentOf(notice, settings.baseUrl),
        // A member who moves a mail server must not be the one who passes the email about it on.
        isPrivate: notice.kind === 'mail_server_changed',
      }))
    })
  while (await sendBatch());
}

function contentOf(notice: NoticeEmail, baseUrl: string): EmailContent {
  const path = notice.webhookId ? `/developers/webhooks/${toText('whk', notice.webhookId)}` : (notice.path ?? '')
  return {
    subject: notice.title,
    heading: notice.title,
    paragraphs: [notice.detail],
    action: { label: 'Open in Waxwing', url: `${baseUrl}${path}` },
    footer: `You receive this email because you are a member of ${notice.organizationName}. Choose the alerts you receive at ${baseUrl}/settings/profile.`,
  }
}
