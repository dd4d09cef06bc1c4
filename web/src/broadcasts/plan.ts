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

type Batch = BroadcastPlan['batches'][number]
/** The A/B test as the draft or the broadcast has it. */
export type Test = Pick<Draft | Broadcast, 'test_percent' | 'decide_after_seconds'>

/** The recipients that get an email as soon as it is started. */
export const sentAtOnce = ({ starts_at: startsAt, batches }: BroadcastPlan): number =>
  startsAt === null && batches[0]?.waits_for === 'start' ? batches[0].recipients : 0

/** One line for each batch: when it is sent, to whom, and why not before. */
export function batchLines(plan: BroadcastPlan, test: Test): { when: string; who: string }[] {
  const time = timeIn(plan.time_zone)
  const lines = plan.batches.map((batch, at) => ({
    when: at === 0 && sentAtOnce(plan) > 0 ? 'Now' : whenText(batch, time),
    who: `${whoText(batch, plan, test)}${reasonText(batch, test)}${endText(batch, time)}`,
  }))
  if (plan.later_batches === 0) return lines
  const later = `${pluralize(plan.later_recipients, 'recipient', 'recipients')} in ${pluralize(plan.later_batches, 'more batch', 'more batches')}`
  return [...lines, { when: 'Later', who: `about ${later}` }]
}

function whenText({ starts_at: startsAt, waits_for: reason }: Batch, time: (at: string) => string): string {
  if (startsAt === null) return 'When you choose'
  return reason === 'winner' ? `About ${time(startsAt)}` : time(startsAt)
}

function whoText({ part, recipients, estimated }: Batch, { emails }: BroadcastPlan, test: Test): string {
  const people = `${estimated ? 'about ' : ''}${pluralize(recipients, 'recipient', 'recipients')}`
  const variants = `one of ${emails.length} variants`
  if (part === 'sample') return `a sample of ${people} (${test.test_percent}%) gets ${variants}`
  if (part === 'rest') return estimated ? `${people} get the winner` : `the other ${people} get the winner`
  return emails.length > 1 ? `${people}, each with ${variants}` : people
}

function reasonText({ waits_for: reason, starts_at: startsAt }: Batch, test: Test): string {
  switch (reason) {
    case 'local_time':
      return ', at their local time'
    case 'sending_hours':
      return ', when the sending hours begin'
    case 'daily_limit':
      return ', when the daily limit allows more'
    case 'winner':
      return startsAt === null
        ? ''
        : `, ${durationText(Number(test.decide_after_seconds) * 1000)} after the sample is sent`
    case 'start':
      return ''
  }
}

/** Empty if it takes less than a minute. */
const endText = ({ starts_at: startsAt, ends_at: endsAt }: Batch, time: (at: string) => string) =>
  endsAt === null || startsAt === null || Date.parse(endsAt) - Date.parse(startsAt) < 60_000
    ? ''
    : `, until about ${time(endsAt)}`

/** What limits the speed. */
export function speedLines({
  messages_per_hour: perHour,
  usual_messages_per_hour: usual,
  limits,
}: BroadcastPlan): string[] {
  const named = limits.flatMap(({ kind, name, messages_per_day: perDay, left_today: left }) => {
    const source = kind === 'mail_server' ? `The mail server ${name}` : `${name?.replace(/^the/, 'The')}`
    if (kind === 'receiving_sites') return ['Some providers may accept the emails more slowly. These follow later.']
    if (perDay === null) return []
    return [`${source} allows ${pluralize(perDay, 'email', 'emails')} today (UTC); ${count(left ?? 0)} are left.`]
  })
  const server = limits.find(({ kind, messages_per_second: rate }) => kind === 'mail_server' && rate !== null)
  const isSet = limits.some(({ kind }) => kind === 'messages_per_hour')
  const recently = usual === null ? '' : `, recently ${count(usual)} per hour`
  if (perHour === null) return [`As fast as the mail server accepts${recently}`, ...named]
  const speed = `${pluralize(perHour, 'email', 'emails')} per hour`
  const limit = isSet ? `At most ${speed}` : `About ${speed}${server ? `, the limit of ${server.name}` : ''}`
  return [`${limit}${recently}`, ...named]
}

/** They share the mail server, and the plan does not know how many emails of them are left. */
export const otherBroadcastsText = (others: number) =>
  `The plan does not include ${others === 1 ? 'another broadcast' : `${count(others)} other broadcasts`} that may be sent at the same time, so it can take longer.`

/** When the last email leaves. */
export function endLine(plan: BroadcastPlan): string {
  if (plan.ends_at !== null) return `About ${timeIn(plan.time_zone)(plan.ends_at)}`
  const last = plan.batches.at(-1)
  if (last?.starts_at === null) return 'After you choose the winner'
  return plan.later_batches > 0
    ? 'Can’t be estimated: it takes more than a year or has too many batches'
    : 'Depends on the speed of the mail server'
}
