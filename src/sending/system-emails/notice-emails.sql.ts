import type { Reader } from '../../platform/db/db.ts'
import type { MessageId, NoticeId, OrganizationId, UserId, WebhookId } from '../../platform/values/ids.ts'

export type NoticeEmailKey = { organizationId: OrganizationId; id: MessageId; noticeId: NoticeId; userId: UserId }

export type NoticeEmail = Pick<NoticeEmailKey, 'organizationId' | 'id'> & {
  kind: string
  title: string
  detail: string
  webhookId: WebhookId | null
  path: string | null
  createdAt: Date
  email: string
  organizationName: string
}

/**
 * Skips recipients that are no longer owners and notices that are too old. Imports concern members as well. Changes of a mail
 * server are also sent to those who were owners then: otherwise the user who made it could prevent that by changing their role.
 */
export const findNoticeEmails = (db: Reader, keys: readonly NoticeEmailKey[], daysMax: number) =>
  db<NoticeEmail>`
    select key.organization_id, key.id, notices.kind, notices.title, notices.detail, notices.webhook_id, notices.path, notices.created_at,
      users.email, organizations.name as organization_name
    from unnest(
      ${keys.map((key) => key.organizationId)}::uuid[],
      ${keys.map((key) => key.id)}::uuid[],
      ${keys.map((key) => key.noticeId)}::uuid[],
      ${keys.map((key) => key.userId)}::uuid[]
    ) as key (organization_id, id, notice_id, user_id)
    join notices on notices.organization_id = key.organization_id and notices.id = key.notice_id
    join users on users.organization_id = key.organization_id and users.id = key.user_id
    join organizations on organizations.id = key.organization_id
    where notices.created_at > now() - ${daysMax} * interval '1 day'
      and (users.role = 'owner' or notices.kind in ('import_finished', 'mail_server_changed'))`
