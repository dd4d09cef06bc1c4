import type { Reader, Tx } from '../../platform/db/db.ts'
import { allValues } from '../../platform/db/rows.ts'
import { and, type Sql, sql } from '../../platform/db/sql.ts'
import type { PageRequest } from '../../platform/http/paging.ts'
import { type ContactId, type MessageId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import type { SuppressionReason } from '../contacts/eligibility.ts'
import { containing } from '../contacts/search.ts'
import { storedText } from '../contacts/stored-address.ts'

export type Suppression = {
  email: string
  emailKey: string
  reason: SuppressionReason
  detail: string | null
  messageId: MessageId | null
  createdAt: Date
}

export type NewSuppression = Omit<Suppression, 'messageId' | 'createdAt'>

/** Skips addresses that are already suppressed for the same reason. Returns the others. */
export const insertSuppressions = (tx: Tx, organizationId: OrganizationId, entries: NewSuppression[]) =>
  tx<Pick<NewSuppression, 'emailKey' | 'reason'>>`
    insert into suppressions (organization_id, email_key, reason, email, detail)
    select distinct on (email_key, reason) ${organizationId}::uuid, *
    from unnest(
      ${entries.map((entry) => entry.emailKey)}::text[],
      ${entries.map((entry) => entry.reason)}::text[],
      ${entries.map((entry) => entry.email)}::text[],
      ${entries.map((entry) => entry.detail)}::text[]
    ) as entry (email_key, reason, email, detail)
    order by email_key, reason
    on conflict do nothing
    returning email_key, reason`

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

export const selectSuppressionsOf = (db: Reader, organizationId: OrganizationId, emailKey: string) =>
  db<Suppression>`
    select email, email_key, reason, detail, message_id, created_at
    from suppressions
    where organization_id = ${organizationId} and email_key = ${emailKey}`

/** Returns the reasons that were removed. */
export const deleteSuppressions = (tx: Tx, organizationId: OrganizationId, emailKey: string) =>
  allValues(tx<{ reason: SuppressionReason }>`
    delete from suppressions
    where organization_id = ${organizationId} and email_key = ${emailKey}
    returning reason`)

/** Returns the contacts with these addresses. */
export const selectContactIds = (db: Reader, organizationId: OrganizationId, emailKeys: string[]) =>
  allValues(db<{ id: ContactId }>`
    select id from contacts where organization_id = ${organizationId} and email_key = any (${emailKeys}::text[])`)
