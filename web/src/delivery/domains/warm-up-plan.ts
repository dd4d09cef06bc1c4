/** Where a plan is: its day, and what left on it. */
export type PlanState = { plan: readonly number[]; day: number; sent_today: number }

/**
 * The number of days on which so many emails leave, from today on, if nothing else is sent. The rest leaves on the first day
 * after the plan, which has no limit.
 */
export function daysFor(emails: number, { plan, day, sent_today: sent }: PlanState): number {
  let left = emails
  let days = 0
  while (left > 0) {
    const limit = plan[day - 1 + days]
    days++
    if (limit === undefined) return days
    left -= days === 1 ? Math.max(0, limit - sent) : limit
  }
  return days
}

/** The last day of the plan in UTC, if the domain sends every day from `today` on. */
export function endOf({ plan, day }: PlanState, today: Date): string {
  const end = new Date(today)
  end.setUTCDate(end.getUTCDate() + Math.max(0, plan.length - day))
  return end.toISOString().slice(0, 10)
}
