import type { Tx } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { BroadcastId, ContactId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { BroadcastMessage } from '../../sending/sending.ts'
import type { RecipientStatus } from '../broadcasts.sql.ts'

/** What happened to a recipient. Without a message, nothing was sent: the contact is suppressed, or rendering failed. */
export type RecipientResult = {
  organizationId: OrganizationId
  broadcastId: BroadcastId
  contactId: ContactId
  status: Exclude<RecipientStatus, 'pending'>
  reason: string | null
  message: BroadcastMessage | null
}

/** The final outcome of an email that the relay had deferred. */
export type RetryResult = {
  organizationId: OrganizationId
  broadcastId: BroadcastId
  contactId: ContactId
  messageId: MessageId
  status: 'sent' | 'bounced' | 'suppressed' | 'unsubscribed' | 'failed' | 'cancelled'
  reason: string | null
}

/**
 * Returns the contacts of the updated rows.
 *
 * The statement joins nothing: while the statistics are out of date, PostgreSQL expects one pending row, and compares each
 * of them with each result. `any` keeps it from reading the whole ledger, and `width_bucket` finds the place of a contact
 * in the sorted array.
 */
export async function updatePending(tx: Tx, results: readonly RecipientResult[]): Promise<Set<ContactId>> {
  const { organizationId, broadcastId } = results[0]!
  const sorted = inContactOrder(results)
  const contactIds = sorted.map(({ contactId }) => contactId)
  const rows = await tx<{ contactId: ContactId }>`
    update broadcast_recipients
    set status = ${textOf(sorted, ({ status }) => status)},
      reason = ${textOf(sorted, ({ reason }) => reason)},
      message_id = ${resultOf(sql`${sorted.map(({ message }) => message?.row.id)}::uuid[]`, contactIds)}
    where organization_id = ${organizationId} and broadcast_id = ${broadcastId}
      and contact_id = any (${contactIds}::uuid[]) and status = 'pending'
    returning contact_id`
  return new Set(rows.map(({ contactId }) => contactId))
}

/**
 * The element of `values` at the place of `contact_id` in the sorted `contactIds`. Without `coalesce`, which changes nothing,
 * Citus 13.2 crashes: it does not expect a column to be set to an element of a parameter.
 */
const resultOf = (values: Sql, contactIds: readonly ContactId[]): Sql =>
  sql`coalesce((${values})[width_bucket(contact_id, ${contactIds}::uuid[])])`

/** The text of the result of a row. Nearly always, it is the same for all of them. */
function textOf<Result extends { contactId: ContactId }>(
  sorted: readonly Result[],
  text: (result: Result) => string | null,
): Sql {
  const values = sorted.map(text)
  if (values.every((value) => value === values[0])) return sql`${values[0]}::text`
  return resultOf(
    sql`${values}::text[]`,
    sorted.map(({ contactId }) => contactId),
  )
}

const inContactOrder = <Result extends { contactId: ContactId }>(results: readonly Result[]): Result[] =>
  results.toSorted((a, b) => (a.contactId < b.contactId ? -1 : 1))

type Settled = { organizationId: OrganizationId; broadcastId: BroadcastId; status: RecipientStatus }

/**
 * Moves recipients from one count of their broadcast to another. The counts are shared by all writers of a broadcast, so
 * this is the last statement of a transaction.
 */
export function addToCounts(tx: Tx, from: RecipientStatus, settled: readonly Settled[]): void {
  const rows = groupBy(settled, ({ broadcastId }) => broadcastId).flatMap(([broadcastId, own]) => {
    const { organizationId } = own[0]!
    const byStatus = groupBy(own, ({ status }) => status).map(([status, { length }]) => ({ status, by: length }))
    return [...byStatus, { status: from, by: -own.length }]
      .sort((a, b) => (a.status < b.status ? -1 : 1))
      .map(({ status, by }) => ({ organizationId, broadcastId, status, by }))
  })
  if (rows.length === 0) return
  tx.send`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select * from unnest(
      ${rows.map((row) => row.organizationId)}::uuid[],
      ${rows.map((row) => row.broadcastId)}::uuid[],
      ${rows.map((row) => row.status)}::text[],
      ${rows.map((row) => row.by)}::int8[]
    )
    on conflict (organization_id, broadcast_id, status) do update
    set recipients = broadcast_counts.recipients + excluded.recipients`
}

/** Updates the recipients of one broadcast whose email was deferred, and returns the messages of those that were queued. */
export async function updateQueued(tx: Tx, results: readonly RetryResult[]): Promise<Set<MessageId>> {
  const { organizationId, broadcastId } = results[0]!
  const sorted = inContactOrder(results)
  const contactIds = sorted.map(({ contactId }) => contactId)
  const rows = await tx<{ messageId: MessageId }>`
    update broadcast_recipients
    set status = ${textOf(sorted, ({ status }) => status)},
      reason = ${textOf(sorted, ({ reason }) => reason)}
    where organization_id = ${organizationId} and broadcast_id = ${broadcastId}
      and contact_id = any (${contactIds}::uuid[]) and message_id = any (${sorted.map(({ messageId }) => messageId)}::uuid[])
      and status = 'queued'
    returning message_id`
  return new Set(rows.map(({ messageId }) => messageId))
}
