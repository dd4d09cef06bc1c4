import type { Reader, Tx } from '../../platform/db/db.ts'
import { countRows } from '../../platform/db/rows.ts'
import { type ContactId, type ImportId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { SuppressionReason } from '../contacts/eligibility.ts'
import type { ContactBefore } from '../contacts/fields.ts'

type SuppressionAdded = { email_key: string; reason: SuppressionReason }

export type NewImportChange =
  | { contactId: ContactId; change: ContactBefore }
  | { contactId: null; change: SuppressionAdded }
export type ImportChange = NewImportChange & { id: string }

/** In the order in which they are undone last: the ids of later changes are greater. */
export function insertImportChanges(
  tx: Tx,
  organizationId: OrganizationId,
  importId: ImportId,
  changes: readonly NewImportChange[],
): void {
  if (changes.length === 0) return
  tx.send`
    insert into import_changes (organization_id, import_id, id, contact_id, change)
    select ${organizationId}::uuid, ${importId}::uuid, id, contact_id, change::jsonb
    from unnest(
      ${changes.map(() => newId('imp'))}::uuid[],
      ${changes.map(({ contactId }) => contactId)}::uuid[],
      ${changes.map(({ change }) => JSON.stringify(change))}::text[]
    ) as changed (id, contact_id, change)`
}

/** The latest changes first. */
export const selectLastChanges = (db: Reader, organizationId: OrganizationId, importId: ImportId, limit: number) =>
  db<ImportChange>`
    select id, contact_id, change from import_changes
    where organization_id = ${organizationId} and import_id = ${importId}
    order by id desc
    limit ${limit}`

export function deleteImportChanges(
  tx: Tx,
  organizationId: OrganizationId,
  importId: ImportId,
  ids: readonly string[],
): void {
  tx.send`
    delete from import_changes
    where organization_id = ${organizationId} and import_id = ${importId} and id = any (${ids}::uuid[])`
}

/** The organizations and imports whose changes are older than `days`. */
export const selectExpiredChanges = (db: Reader, days: number) =>
  db<{ organizationId: OrganizationId; importId: ImportId }>`
    select organization_id, id as import_id from imports
    where is_undoable and finished_at < now() - ${days} * interval '1 day'
      and (undo is null or undo ->> 'status' = 'done')`

/** Returns how many were deleted, at most `limit`. */
export const deleteSomeChanges = (tx: Tx, organizationId: OrganizationId, importId: ImportId, limit: number) =>
  countRows(tx`
    delete from import_changes
    where organization_id = ${organizationId} and import_id = ${importId} and id in (
      select id from import_changes
      where organization_id = ${organizationId} and import_id = ${importId}
      limit ${limit})
    returning 1`)

export function setNotUndoable(tx: Tx, organizationId: OrganizationId, importId: ImportId): void {
  tx.send`update imports set is_undoable = false where organization_id = ${organizationId} and id = ${importId}`
}
