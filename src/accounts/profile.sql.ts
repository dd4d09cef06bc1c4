import type { Writer } from '../db/db.ts'
import type { OrganizationId, UserId } from '../values/ids.ts'
import type { AlertKind } from './alerts.ts'

export type ProfileChange = { name?: string | null | undefined; mutedAlerts?: AlertKind[] | undefined }

/** Undefined fields are not changed. */
export const updateProfile = (
  db: Writer,
  { organizationId, id }: { organizationId: OrganizationId; id: UserId },
  { name, mutedAlerts }: ProfileChange,
) =>
  db`
    update users
    set name = case when ${name !== undefined} then ${name ?? null} else name end,
      muted_alerts = coalesce(${mutedAlerts}::text[], muted_alerts)
    where organization_id = ${organizationId} and id = ${id}`
