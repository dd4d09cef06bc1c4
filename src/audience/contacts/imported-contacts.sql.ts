import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { GroupId, ImportId, OrganizationId } from '../../platform/values/ids.ts'

export type ImportSpan = { groupId: GroupId | null; createdAt: Date; finishedAt: Date | null }

/** Returns undefined if the import does not exist. */
export const findImportSpan = (db: Reader, organizationId: OrganizationId, id: ImportId) =>
  first(db<ImportSpan>`
    select group_id, created_at, finished_at from imports
    where organization_id = ${organizationId} and id = ${id} and status <> 'uploading'`)
