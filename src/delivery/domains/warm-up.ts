import type { Db, Reader } from '../../platform/db/db.ts'
import { existing } from '../../platform/values/errors.ts'
import type { DomainId, OrganizationId } from '../../platform/values/ids.ts'
import { findLimitUse, forgetPlan, type Limit, planKey } from '../limits/sending-limits.ts'
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
        waitsInBroadcast: true,
      }

/** Returns null if the domain has no plan. */
export async function findWarmUp(db: Reader, domain: PlannedDomain): Promise<WarmUp | null> {
  const limit = warmUpLimit(domain)
  if (!limit?.plan) return null
  const { days, used } = (await findLimitUse(db, limit)) ?? { days: 1, used: 0 }
  return { plan: limit.plan, day: days, messagesPerDay: limit.plan[days - 1] ?? null, sentToday: used }
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
