import type { Broadcast, BroadcastPlan } from '../api/types.ts'
import { count, pluralize } from '../ui/numbers.ts'
import type { Draft } from './draft.ts'
import { timeIn } from './local-time.ts'
import { durationText } from './use-rate.ts'

/** How many recipients get the variants before the winner is chosen, as the service divides them. */
const sampleSize = (recipients: number, variants: number, percent: number) =>
  Math.max(Math.round((recipients * percent) / 100), Math.min(recipients, variants))

/** Whether the sample is sent and the other recipients wait for the winner. */
export function isWaitingForWinner(broadcast: Broadcast): boolean {
  const { status, variants, test_percent: percent, winner, recipients, counts } = broadcast
  if (status !== 'sending' || variants.length === 0 || percent === 100 || winner !== null || !recipients) return false
  return counts.pending <= recipients - sampleSize(recipients, variants.length, percent)
}

type Wait = BroadcastPlan['waits'][number]
/** The A/B test as the draft or the broadcast has it. */
export type Test = Pick<Draft | Broadcast, 'test_percent' | 'decide_after_seconds'>

/** What all emails wait for, or some. */
const isBeforeAll = (plan: BroadcastPlan, { until }: Wait) => until !== null && until <= plan.first_email_at

/** Whether emails leave as soon as it is started. */
export const startsAtOnce = (plan: BroadcastPlan): boolean =>
  plan.starts_at === null && !plan.waits.some((wait) => isBeforeAll(plan, wait))

/** When the first emails leave, and why others follow later. */
export function planLines(plan: BroadcastPlan, recipients: number, test: Test): { when: string; who: string }[] {
  const time = timeIn(plan.time_zone)
  const before = plan.waits.find((wait) => isBeforeAll(plan, wait))
  const first = {
    when: startsAtOnce(plan) ? 'Now' : time(plan.first_email_at),
    who: `${firstText(plan, recipients, test)}${before ? `, ${reasonText(before)}` : ''}`,
  }
  const later = plan.waits.filter((wait) => wait !== before)
  return [first, ...later.map((wait) => ({ when: whenText(wait, time), who: laterText(plan, wait, recipients, test) }))]
}

const peopleText = (recipients: number) => pluralize(recipients, 'recipient', 'recipients')

function firstText({ sample, emails }: BroadcastPlan, recipients: number, test: Test): string {
  const variants = `one of ${emails.length} variants`
  if (sample !== null) return `a sample of ${peopleText(sample)} (${test.test_percent}%) gets ${variants}`
  return emails.length > 1 ? `${peopleText(recipients)}, each with ${variants}` : peopleText(recipients)
}

function whenText({ cause, until }: Wait, time: (at: string) => string): string {
  if (until === null) return 'When you choose'
  return cause === 'winner' ? `About ${time(until)}` : time(until)
}

function laterText({ sample }: BroadcastPlan, wait: Wait, recipients: number, test: Test): string {
  if (wait.cause !== 'winner') return `others follow, ${reasonText(wait)}`
  const delay = durationText(Number(test.decide_after_seconds) * 1000)
  const after = wait.until === null ? '' : `, ${delay} after the sample is sent`
  return `the other ${peopleText(recipients - (sample ?? 0))} get the winner${after}`
}

function reasonText({ cause, name }: Wait): string {
  switch (cause) {
    case 'local_time':
      return 'at their local time'
    case 'sending_hours':
      return 'when the sending hours begin'
    case 'daily_limit':
      return `when the daily limit of ${name} allows more`
    case 'limit':
      return `because the rate of ${name} is limited`
    case 'messages_per_hour':
    case 'winner':
      return ''
  }
}

/** What limits the speed. */
export function speedLines({
  messages_per_hour: perHour,
  usual_messages_per_hour: usual,
  receiving_limits: hasReceivingLimits,
}: BroadcastPlan): string[] {
  const recently = usual === null ? '' : `, recently ${count(usual)} per hour`
  const speed =
    perHour === null
      ? `As fast as the mail server accepts${recently}`
      : `At most ${pluralize(perHour, 'email', 'emails')} per hour${recently}`
  return hasReceivingLimits ? [speed, 'Some providers may accept the emails more slowly. These follow later.'] : [speed]
}

/** They share the mail server, and the plan does not know how many emails of them are left. */
export const otherBroadcastsText = (others: number) =>
  `The plan does not include ${others === 1 ? 'another broadcast' : `${count(others)} other broadcasts`} that may be sent at the same time, so it can take longer.`

/** When the last email leaves. */
export function endLine(plan: BroadcastPlan): string {
  if (plan.ends_at !== null) return `About ${timeIn(plan.time_zone)(plan.ends_at)}`
  return plan.waits.some(({ cause, until }) => cause === 'winner' && until === null)
    ? 'After you choose the winner'
    : 'Can’t be estimated: it depends on the speed of the mail server, or takes very long'
}
