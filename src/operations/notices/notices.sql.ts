import type { AlertKind } from '../../accounts/people/alerts.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import type { NoticeId, OrganizationId, UserId, WebhookId } from '../../platform/values/ids.ts'

export const noticeKinds = [
  'webhook_paused',
  'webhook_failing',
  'export_paused',
  'relay_down',
  'bounce_rate',
  'complaint_rate',
  'import_finished',
  'broadcast_paused',
  'broadcast_expired',
  'domain_warning',
  'mail_server_failing',
  'mail_server_changed',
  'domain_unverified',
] as const
export type NoticeKind = (typeof noticeKinds)[number]

export type Notice = {
  organizationId: OrganizationId
  id: NoticeId
  kind: NoticeKind
  title: string
  detail: string
  webhookId: WebhookId | null
  /** The page of the web app with details. Null if the notice is about a webhook. */
  path: string | null
  createdAt: Date
}

export const insertNotice = (tx: Tx, notice: Omit<Notice, 'createdAt'>) =>
  tx`
    insert into notices (organization_id, id, kind, title, detail, webhook_id, path)
    values (${notice.organizationId}, ${notice.id}, ${notice.kind}, ${notice.title}, ${notice.detail}, ${notice.webhookId},
      ${notice.path})`

/** Deletes all but the newest `keep` notices of the organization. */
export const trimNotices = (tx: Tx, organizationId: OrganizationId, keep: number) =>
  tx`
    delete from notices
    where organization_id = ${organizationId} and id <= (
      select id from notices where organization_id = ${organizationId} order by id desc offset ${keep} limit 1)`

/** Newest first. */
export const selectNotices = (db: Reader, organizationId: OrganizationId, limit: number) =>
  db<Notice>`
    select organization_id, id, kind, title, detail, webhook_id, path, created_at
    from notices
    where organization_id = ${organizationId}
    order by id desc
    limit ${limit}`

/** Returns the owners, or only the given member, without those who switched this kind of alert off, if it can be. */
export const selectRecipients = (
  db: Reader,
  organizationId: OrganizationId,
  alert: AlertKind | null,
  onlyTo: UserId | undefined,
) =>
  allValues(db<{ id: UserId }>`
    select id from users
    where organization_id = ${organizationId} and not coalesce(${alert}::text = any (muted_alerts), false)
      and case when ${onlyTo}::uuid is null then role = 'owner' else id = ${onlyTo}::uuid end
    order by id`)
