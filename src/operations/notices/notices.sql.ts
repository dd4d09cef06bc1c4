import type { AlertKind } from '../../accounts/accounts.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { allValues, hasRows } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type {
  BroadcastId,
  DomainId,
  EventExportId,
  ImportId,
  MailServerId,
  NoticeId,
  OrganizationId,
  UserId,
  WebhookId,
} from '../../platform/values/ids.ts'

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
  'emails_given_up',
  'deliveries_given_up',
  'system_emails_given_up',
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
  /** What it is about, unless it is a webhook. Null: the whole organization. */
  targetId: NoticeTarget | null
  /** `open` while what it is about lasts, until somebody dismisses it. */
  state: NoticeState
  createdAt: Date
}

export type NoticeTarget = MailServerId | DomainId | EventExportId | BroadcastId | ImportId
export const noticeStates = ['open', 'resolved', 'dismissed'] as const
export type NoticeState = (typeof noticeStates)[number]

export const insertNotice = (tx: Tx, notice: Omit<Notice, 'createdAt' | 'state'>) =>
  tx`
    insert into notices (organization_id, id, kind, title, detail, webhook_id, target_id, path)
    values (${notice.organizationId}, ${notice.id}, ${notice.kind}, ${notice.title}, ${notice.detail}, ${notice.webhookId},
      ${notice.targetId}, ${notice.path})`

/** Reported once a day while they last. */
const dailyKinds: NoticeKind[] = [
  'bounce_rate',
  'complaint_rate',
  'emails_given_up',
  'deliveries_given_up',
  'system_emails_given_up',
]

/** How long a notice is open that is about something that does not last. */
const openDays = 7

/**
 * The ids of open notices: the newest of each kind about each object, while its cause lasts. Nothing has to be written when a
 * cause ends, whatever ends it, such as that the object is deleted. The state of SMTP_URL is not in the database.
 */
const openIds = (id: OrganizationId) => sql`
  select latest.id
  from (
    select distinct on (kind, coalesce(webhook_id, target_id)) id, kind, webhook_id, target_id, dismissed_at, created_at
    from notices
    where organization_id = ${id}
    order by kind, coalesce(webhook_id, target_id), id desc
  ) as latest
  where dismissed_at is null and case
    when kind = 'webhook_failing' then exists (
      select from webhooks
      where organization_id = ${id} and webhooks.id = latest.webhook_id and status = 'active' and failing_since is not null)
    when kind = 'webhook_paused' then exists (
      select from webhooks where organization_id = ${id} and webhooks.id = latest.webhook_id and status = 'paused')
    when kind = 'export_paused' then exists (
      select from event_exports
      where organization_id = ${id} and event_exports.id = latest.target_id and status = 'paused')
    when kind = 'mail_server_failing' then exists (
      select from mail_servers
      where organization_id = ${id} and mail_servers.id = latest.target_id and status = 'failing')
    when kind = 'domain_warning' then exists (
      select from domains where organization_id = ${id} and domains.id = latest.target_id and status = 'warning')
    when kind = 'domain_unverified' then exists (
      select from domains where organization_id = ${id} and domains.id = latest.target_id and status = 'unverified')
    when kind = 'broadcast_paused' then exists (
      select from broadcasts where organization_id = ${id} and broadcasts.id = latest.target_id and status = 'paused')
    when kind = 'relay_down' then true
    when kind = 'import_finished' then false
    when kind = any (${dailyKinds}::text[]) then created_at > now() - interval '1 day'
    else created_at > now() - ${openDays} * interval '1 day'
  end`

/** Deletes all but the newest `keep` notices of the organization, and those that are open. */
export const trimNotices = (tx: Tx, organizationId: OrganizationId, keep: number) =>
  tx`
    delete from notices
    where organization_id = ${organizationId} and id <= (
        select id from notices where organization_id = ${organizationId} order by id desc offset ${keep} limit 1)
      and id not in (${openIds(organizationId)})`

/** Newest first. */
export const selectNotices = (
  db: Reader,
  organizationId: OrganizationId,
  { onlyOpen, limit }: { onlyOpen: boolean; limit: number },
) =>
  db<Notice>`
    with open as materialized (${openIds(organizationId)})
    select organization_id, id, kind, title, detail, webhook_id, target_id, path, created_at,
      case when dismissed_at is not null then 'dismissed' when open.id is not null then 'open' else 'resolved' end as state
    from notices
    left join open using (id)
    where organization_id = ${organizationId} ${onlyOpen ? sql`and open.id is not null` : sql``}
    order by id desc
    limit ${limit}`

/** Returns false if it does not exist. */
export const updateDismissed = (db: Writer, organizationId: OrganizationId, id: NoticeId, userId: UserId) =>
  hasRows(db`
    update notices
    set dismissed_at = now(), dismissed_by = ${userId}
    where organization_id = ${organizationId} and id = ${id}
    returning true`)

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
