import type { Writer } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Dates all segments of an organization back, for sample data. */
export const datePastSegments = (db: Writer, organizationId: OrganizationId, at: Date) =>
  db`
    update segments set created_at = ${at}, updated_at = ${at} where organization_id = ${organizationId}`
