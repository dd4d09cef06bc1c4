import type { Reader } from '../db/db.ts'
import type { GroupId, ImportId, OrganizationId } from '../values/ids.ts'

export type ImportSpan = { groupId: GroupId | null; createdAt: Date; finishedAt: Date | null }

/** Returns undefined if the import does not exist. */
export async function findImportSpan(
  db: Reader,
  organizationId: OrganizationId,
  id: ImportId,
): Promise<ImportSpan | undefined> {
  const [row] = await db<ImportSpan>`
    select group_id, created_at, finished_at from imports
    where organization_id = ${organizationId} and id = ${id} and status <> 'uploading'`
  return row
}
