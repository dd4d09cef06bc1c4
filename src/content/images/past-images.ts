import type { Writer } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Dates all images of an organization back, for sample data. */
export const datePastImages = (db: Writer, organizationId: OrganizationId, createdAt: Date) =>
  db`
    update images set created_at = ${createdAt} where organization_id = ${organizationId}`
