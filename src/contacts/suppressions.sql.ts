import type { Reader, Tx } from '../db/db.ts'
import { and, sql } from '../db/sql.ts'
import type { PageRequest } from '../http/paging.ts'
import type { MessageId, OrganizationId } from '../values/ids.ts'
import { containing } from './search.sql.ts'

/** 'unsubscribe' stops marketing email only; the other reasons stop all email. */
export const suppressionReasons = ['hard_bounce', 'complaint', 'manual', 'unsubscribe'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]

export type Suppression = {
  email: string
  emailKey: string
  reason: SuppressionReason
  detail: string | null
  messageId: MessageId | null
  createdAt: Date
}

export type NewSuppression = Omit<Suppression, 'createdAt'> & { organizationId: OrganizationId }

/** An address that is already suppressed for the same reason stays as it is. */
export async function insertSuppressions(tx: Tx, entries: NewSuppression[]): Promise<void> {
  await tx`
    insert into suppressions (organization_id, email_key, reason, email, detail, message_id)
    select distinct on (organization_id, email_key, reason) *
    from unnest(
      ${entries.map((entry) => entry.organizationId)}::uuid[],
      ${entries.map((entry) => entry.emailKey)}::text[],
      ${entries.map((entry) => entry.reason)}::text[],
      ${entries.map((entry) => entry.email)}::text[],
      ${entries.map((entry) => entry.detail)}::text[],
      ${entries.map((entry) => entry.messageId)}::uuid[]
    ) as entry (organization_id, email_key, reason, email, detail, message_id)
    order by organization_id, email_key, reason
    on conflict do nothing`
}

export async function selectSuppressions(
  db: Reader,
  organizationId: OrganizationId,
  filter: { query?: string | undefined; reason?: SuppressionReason | undefined },
  { limit, cursor }: PageRequest,
): Promise<Suppression[]> {
  const conditions = [
    ...(filter.query ? [sql`email_key like ${containing(filter.query.toLowerCase())}`] : []),
    ...(filter.reason ? [sql`reason = ${filter.reason}`] : []),
    ...(cursor ? [sql`(created_at, email_key, reason) < (${cursor[0]}::timestamptz, ${cursor[1]}, ${cursor[2]})`] : []),
  ]
  return db<Suppression>`
    select email, email_key, reason, detail, message_id, created_at
    from suppressions
    where organization_id = ${organizationId} and ${and(conditions)}
    order by created_at desc, email_key desc, reason desc
    limit ${limit + 1}`
}

export async function selectSuppressionsOf(
  db: Reader,
  organizationId: OrganizationId,
  emailKey: string,
): Promise<Suppression[]> {
  return db<Suppression>`
    select email, email_key, reason, detail, message_id, created_at
    from suppressions
    where organization_id = ${organizationId} and email_key = ${emailKey}`
}

/** Returns the reasons that were removed. */
export async function deleteSuppressions(
  tx: Tx,
  organizationId: OrganizationId,
  emailKey: string,
  reasons: readonly SuppressionReason[] = suppressionReasons,
): Promise<SuppressionReason[]> {
  const rows = await tx<{ reason: SuppressionReason }>`
    delete from suppressions
    where organization_id = ${organizationId} and email_key = ${emailKey} and reason = any (${reasons}::text[])
    returning reason`
  return rows.map(({ reason }) => reason)
}
