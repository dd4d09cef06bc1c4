import type { AlertKind } from '../accounts/alerts.ts'
import type { Reader, Tx, Writer } from '../db/db.ts'
import type { MessageId, NoticeId, OrganizationId, UserId, WebhookId } from '../values/ids.ts'

export const noticeKinds = [
  'webhook_paused',
  'webhook_failing',
  'relay_down',
  'bounce_rate',
  'complaint_rate',
  'import_finished',
  'broadcast_paused',
  'broadcast_expired',
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

export async function insertNotice(tx: Tx, notice: Omit<Notice, 'createdAt'>): Promise<void> {
  await tx`
    insert into notices (organization_id, id, kind, title, detail, webhook_id, path)
    values (${notice.organizationId}, ${notice.id}, ${notice.kind}, ${notice.title}, ${notice.detail}, ${notice.webhookId},
      ${notice.path})`
}

/** Deletes all but the newest `keep` notices of the organization. */
export async function trimNotices(tx: Tx, organizationId: OrganizationId, keep: number): Promise<void> {
  await tx`
    delete from notices
    where organization_id = ${organizationId} and id <= (
      select id from notices where organization_id = ${organizationId} order by id desc offset ${keep} limit 1)`
}

/** Newest first. */
export async function selectNotices(db: Reader, organizationId: OrganizationId, limit: number): Promise<Notice[]> {
  return db<Notice>`
    select organization_id, id, kind, title, detail, webhook_id, path, created_at
    from notices
    where organization_id = ${organizationId}
    order by id desc
    limit ${limit}`
}

/** Returns the owners, or only the given member, without those who switched this kind of alert off. */
export async function selectRecipients(
  db: Reader,
  organizationId: OrganizationId,
  alert: AlertKind,
  onlyTo: UserId | undefined,
): Promise<UserId[]> {
  const rows = await db<{ id: UserId }>`
    select id from users
    where organization_id = ${organizationId} and not ${alert} = any (muted_alerts)
      and case when ${onlyTo}::uuid is null then role = 'owner' else id = ${onlyTo}::uuid end
    order by id`
  return rows.map(({ id }) => id)
}

export async function insertNoticeMails(
  tx: Tx,
  { organizationId, id: noticeId }: Pick<Notice, 'organizationId' | 'id'>,
  mails: { id: MessageId; userId: UserId }[],
): Promise<void> {
  await tx`
    insert into notice_mails (organization_id, id, notice_id, user_id)
    select ${organizationId}, mail.id, ${noticeId}, mail.user_id
    from unnest(${mails.map(({ id }) => id)}::uuid[], ${mails.map(({ userId }) => userId)}::uuid[]) as mail (id, user_id)`
}

export type NoticeMailKey = { organizationId: OrganizationId; id: MessageId }

/** Claims due emails for the duration of the lease. Concurrent calls wait for the rows and then find them claimed. */
export async function claimNoticeMails(
  db: Writer,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<NoticeMailKey[]> {
  return db<NoticeMailKey>`
    with due as materialized (
      select organization_id, id from notice_mails where next_try_at <= now() order by next_try_at limit ${limit}
    )
    update notice_mails
    set next_try_at = now() + ${leaseSeconds} * interval '1 second'
    from due
    where notice_mails.organization_id = due.organization_id and notice_mails.id = due.id and next_try_at <= now()
    returning notice_mails.organization_id, notice_mails.id`
}

export async function postponeNoticeMails(db: Writer, keys: NoticeMailKey[], seconds: number): Promise<void> {
  await db`
    update notice_mails set next_try_at = now() + ${seconds} * interval '1 second'
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    where notice_mails.organization_id = key.organization_id and notice_mails.id = key.id`
}

export type NoticeMail = NoticeMailKey &
  Pick<Notice, 'title' | 'detail' | 'webhookId' | 'path' | 'createdAt'> & { email: string; organizationName: string }

/** Skips recipients that are no longer owners (of imports: members) and notices that are too old. */
export async function findNoticeMails(db: Reader, keys: NoticeMailKey[], daysMax: number): Promise<NoticeMail[]> {
  return db<NoticeMail>`
    select organization_id, notice_mails.id, notices.title, notices.detail, notices.webhook_id, notices.path, notices.created_at,
      users.email, organizations.name as organization_name
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join notice_mails using (organization_id, id)
    join notices using (organization_id)
    join users using (organization_id)
    join organizations on organizations.id = organization_id
    where notices.id = notice_mails.notice_id and notices.created_at > now() - ${daysMax} * interval '1 day'
      and users.id = notice_mails.user_id and (users.role = 'owner' or notices.kind = 'import_finished')`
}

export async function deleteNoticeMails(db: Writer, keys: NoticeMailKey[]): Promise<void> {
  await db`
    delete from notice_mails
    using unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    where notice_mails.organization_id = key.organization_id and notice_mails.id = key.id`
}
