import type { Reader, Tx } from '../db/db.ts'
import { and, type Sql, sql } from '../db/sql.ts'
import type { PageRequest } from '../http/paging.ts'
import { type ContactId, type MessageId, type OrganizationId, parseId } from '../values/ids.ts'
import { containing } from './search.sql.ts'
import { storedText } from './stored-address.ts'

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

/** An address that is already suppressed for the same reason stays as it is. Returns the others. */
export async function insertSuppressions(
  tx: Tx,
  entries: NewSuppression[],
): Promise<Pick<NewSuppression, 'emailKey' | 'reason'>[]> {
  return tx<Pick<NewSuppression, 'emailKey' | 'reason'>>`
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
    on conflict do nothing
    returning email_key, reason`
}

/** The text is the id of a contact or message, or occurs in the address. */
function matchesQuery(organizationId: OrganizationId, query: string): Sql {
  const [contactId, messageId] = [parseId('con', query.toLowerCase()), parseId('msg', query.toLowerCase())]
  if (messageId) return sql`message_id = ${messageId}`
  if (contactId)
    return sql`email_key = (
      select email_key from contacts where contacts.organization_id = ${organizationId} and contacts.id = ${contactId})`
  return sql`email_key like ${containing(storedText(query))}`
}

export async function selectSuppressions(
  db: Reader,
  organizationId: OrganizationId,
  filter: { query?: string | undefined; reason?: SuppressionReason | undefined },
  { limit, cursor }: PageRequest,
): Promise<Suppression[]> {
  const conditions = [
    ...(filter.query ? [matchesQuery(organizationId, filter.query)] : []),
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

/**
 * Adds the message to an unsubscription that came from somewhere else: the recipient confirmed it, so undoing an import
 * does not remove it.
 */
export async function confirmUnsubscription(
  tx: Tx,
  organizationId: OrganizationId,
  contactId: ContactId,
  messageId: MessageId,
): Promise<void> {
  await tx`
    update suppressions set message_id = ${messageId}
    from contacts
    where suppressions.organization_id = ${organizationId} and suppressions.reason = 'unsubscribe'
      and suppressions.message_id is null and suppressions.email_key = contacts.email_key
      and contacts.organization_id = ${organizationId} and contacts.id = ${contactId}`
}
