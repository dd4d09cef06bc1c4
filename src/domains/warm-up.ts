import type { Db, Reader } from '../db/db.ts'
import { findPlanUses, forgetPlan, type Limit, planKey } from '../sending-limits/sending-limits.ts'
import { existing } from '../values/errors.ts'
import type { DomainId, OrganizationId } from '../values/ids.ts'
import type { Domain } from './domain.ts'
import { updateWarmUp } from './warm-up.sql.ts'

/** A plan that most providers accept from a domain without a reputation. */
export const usualPlan: readonly number[] = [
  50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 12_000, 25_000, 50_000, 100_000,
]

/** The state of a plan. `day`: which of its days it is, counted in days on which something was sent. */
export type WarmUp = { plan: readonly number[]; day: number; messagesPerDay: number | null; sentToday: number }

type PlannedDomain = Pick<Domain, 'organizationId' | 'id' | 'name'> & { warmUpPlan: readonly number[] | null }

/** Counts transactional email, but never delays it. */
export const warmUpLimit = ({ organizationId, id, name, warmUpPlan }: PlannedDomain): Limit | undefined =>
  warmUpPlan === null
    ? undefined
    : {
        organizationId,
        key: planKey(id),
        name: `the warm-up of ${name}`,
        perSecond: null,
        perDay: null,
        plan: warmUpPlan,
        sparesUrgent: true,
      }

/** The state of the plans of domains that have one. */
export async function readWarmUps(
  db: Reader,
  organizationId: OrganizationId,
  domains: readonly PlannedDomain[],
): Promise<Map<DomainId, WarmUp>> {
  const planned = domains.flatMap((domain) => {
    const limit = warmUpLimit(domain)
    return limit ? [{ id: domain.id, plan: domain.warmUpPlan!, limit }] : []
  })
  if (planned.length === 0) return new Map()
  const uses = await findPlanUses(
    db,
    organizationId,
    planned.map(({ limit }) => limit),
  )
  return new Map(
    planned.map(({ id, plan, limit }) => {
      const { days, used } = uses.get(limit.key) ?? { days: 1, used: 0 }
      return [id, { plan, day: days, messagesPerDay: plan[days - 1] ?? null, sentToday: used }]
    }),
  )
}

/** Starts or changes a plan, which then continues at the same day. */
export async function setWarmUp(db: Db, organizationId: OrganizationId, id: DomainId, plan: readonly number[]) {
  await existing('domain', updateWarmUp(db.statement, organizationId, id, plan))
}

/** A later plan begins at its first day. */
export async function removeWarmUp(db: Db, organizationId: OrganizationId, id: DomainId) {
  await existing('domain', updateWarmUp(db.statement, organizationId, id, null))
  await forgetPlan(db, organizationId, id)
}
