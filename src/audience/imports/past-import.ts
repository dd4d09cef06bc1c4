import type { Tx } from '../../platform/db/db.ts'
import type { GroupId, ImportId, OrganizationId, UserId } from '../../platform/values/ids.ts'
import { insertProblems } from './imports.sql.ts'

/** A finished import, for sample data. It created `created` contacts and rejected the other rows. */
export type PastImport = {
  id: ImportId
  groupId: GroupId
  fileName: string
  createdBy: UserId
  finishedAt: Date
  header: string[]
  created: number
  rejected: { line: number; email: string; problem: string; cells: string[] }[]
}

const bytesPerRow = 48

export async function insertPastImport(tx: Tx, organizationId: OrganizationId, past: PastImport): Promise<void> {
  const rows = past.created + past.rejected.length
  const bytes = (rows + 1) * bytesPerRow
  const progress = {
    offset: bytes,
    line: rows + 1,
    rows,
    created: past.created,
    updated: 0,
    rejected: past.rejected.length,
    layout: {
      delimiter: ',',
      columns: { width: past.header.length, email: 0, firstName: 1, lastName: 2, status: null, attributes: [] },
      note: null,
      header: past.header,
    },
  }
  await tx`
    insert into imports (organization_id, id, group_id, subscription, file_name, status, bytes_total, progress, created_at,
      finished_at, created_by)
    values (${organizationId}, ${past.id}, ${past.groupId}, 'subscribed', ${past.fileName}, 'done', ${bytes},
      ${JSON.stringify(progress)}, ${past.finishedAt}, ${past.finishedAt}, ${past.createdBy})`
  await insertProblems(tx, organizationId, past.id, past.rejected)
}
