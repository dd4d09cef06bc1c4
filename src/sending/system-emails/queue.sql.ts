import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { MessageId, NoticeId, OrganizationId, UserId, WebhookId } from '../../platform/values/ids.ts'

export type EmailKey = { organizationId: OrganizationId; id: MessageId }
/** `content` is encrypted. */
export type QueuedAccountEmail = EmailKey & { recipient: string; content: Buffer; createdAt: Date; expiresAt: Date }
export type Queued = { account: QueuedAccountEmail; notice: EmailKey }
export type EmailKind = keyof Queued

const tables = { account: sql`account_mails`, notice: sql`notice_mails` }

/** Returns the organizations with due emails, only among `ids` if these are given. Those that wait longest come first. */
export const selectDueOrganizations = (
  db: Reader,
  kind: EmailKind,
  ids: readonly OrganizationId[] | undefined,
  limit: number,
) =>
  db<{ organizationId: OrganizationId }>`
    select organization_id from ${tables[kind]}
    where next_try_at <= now() ${ids ? sql`and organization_id = any (${ids}::uuid[])` : sql``}
    group by organization_id
    order by min(next_try_at)
    limit ${limit}`

/**
 * Claims due emails for the duration of the lease, of all organizations if none is given. Concurrent calls wait for the rows and
 * then find them claimed.
 */
export const claimEmails = <Kind extends EmailKind>(
  db: Writer,
  kind: Kind,
  organizationId: OrganizationId | undefined,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
) => {
  const isOwn = (column: Sql) => (organizationId ? sql`and ${column} = ${organizationId}` : sql``)
  return db<Queued[Kind]>`
    with due as materialized (
      select organization_id, id from ${tables[kind]}
      where next_try_at <= now() ${isOwn(sql`organization_id`)}
      order by next_try_at limit ${limit}
    )
    update ${tables[kind]} as email
    set next_try_at = now() + ${leaseSeconds} * interval '1 second'
    from due
    where email.organization_id = due.organization_id and email.id = due.id and next_try_at <= now()
      ${isOwn(sql`email.organization_id`)}
    returning email.*`
}

export const postponeEmail = (db: Writer, kind: EmailKind, { organizationId, id }: EmailKey, seconds: number) =>
  db`
    update ${tables[kind]} set next_try_at = now() + ${seconds} * interval '1 second'
    where organization_id = ${organizationId} and id = ${id}`

export async function deleteEmails(db: Writer, kind: EmailKind, keys: readonly EmailKey[]): Promise<void> {
  if (keys.length === 0) return
  await db`
    delete from ${tables[kind]} as email
    using unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    where email.organization_id = key.organization_id and email.id = key.id`
}

export const insertAccountEmail = (
  db: Writer,
  email: Omit<QueuedAccountEmail, 'createdAt' | 'expiresAt'>,
  expiresInMinutes: number,
) =>
  db`
    insert into account_mails (organization_id, id, recipient, content, expires_at)
    values (${email.organizationId}, ${email.id}, ${email.recipient}, ${email.content},
      now() + ${expiresInMinutes} * interval '1 minute')`

export const deleteExpiredAccountEmails = (db: Writer) => db`delete from account_mails where expires_at <= now()`

export const insertNoticeEmails = (
  tx: Tx,
  organizationId: OrganizationId,
  noticeId: NoticeId,
  emails: { id: MessageId; userId: UserId }[],
) =>
  tx`
    insert into notice_mails (organization_id, id, notice_id, user_id)
    select ${organizationId}, email.id, ${noticeId}, email.user_id
    from unnest(${emails.map(({ id }) => id)}::uuid[], ${emails.map(({ userId }) => userId)}::uuid[]) as email (id, user_id)`

export type NoticeEmail = EmailKey & {
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
export const findNoticeEmails = (db: Reader, keys: readonly EmailKey[], daysMax: number) =>
  db<NoticeEmail>`
    select key.organization_id, notice_mails.id, notices.kind, notices.title, notices.detail, notices.webhook_id, notices.path, notices.created_at,
      users.email, organizations.name as organization_name
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join notice_mails on notice_mails.organization_id = key.organization_id and notice_mails.id = key.id
    join notices on notices.organization_id = key.organization_id and notices.id = notice_mails.notice_id
    join users on users.organization_id = key.organization_id and users.id = notice_mails.user_id
    join organizations on organizations.id = key.organization_id
    where notices.created_at > now() - ${daysMax} * interval '1 day'
      and (users.role = 'owner' or notices.kind in ('import_finished', 'mail_server_changed'))`
