import type { Writer } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { DomainId, OrganizationId } from '../../platform/values/ids.ts'

/** Null removes the plan. Returns undefined if the domain does not exist. */
export const updateWarmUp = (
  db: Writer,
  organizationId: OrganizationId,
  id: DomainId,
  plan: readonly number[] | null,
) =>
  first(db<{ id: DomainId }>`
    update domains set warm_up_plan = ${plan}::int[]
    where organization_id = ${organizationId} and id = ${id}
    returning id`)
