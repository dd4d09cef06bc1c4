import type { Reader, Tx } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import type { MessageId, NoticeId, OrganizationId, UserId } from '../../platform/values/ids.ts'

/** Returns the organizations with emails in the tables of 0.1.0 that no process of that release is sending. */
export const selectOldOrganizations = (db: Reader) =>
  allValues(db<{ organizationId: OrganizationId }>`
    select organization_id from account_mails where next_try_at <= now()
    union
    select organization_id from notice_mails where next_try_at <= now()`)

export const takeAccountEmails = (tx: Tx, organizationId: OrganizationId) =>
  tx<{ id: MessageId; recipient: string; content: Buffer; createdAt: Date; expiresAt: Date }>`
    delete from account_mails where organization_id = ${organizationId} and next_try_at <= now()
    returning id, recipient, content, created_at, expires_at`

export const takeNoticeEmails = (tx: Tx, organizationId: OrganizationId) =>
  tx<{ noticeId: NoticeId; userId: UserId }>`
    delete from notice_mails where organization_id = ${organizationId} and next_try_at <= now()
    returning notice_id, user_id`
