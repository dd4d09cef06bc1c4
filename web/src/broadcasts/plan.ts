import type { Broadcast, Weekday } from '../api/types.ts'
import { count, pluralize } from '../ui/numbers.ts'
import { type Draft, weekdays } from './draft.ts'
import { localTimeText } from './local-time.ts'
import { aboutText, durationText } from './use-rate.ts'

/** How many recipients get the variants before the winner is chosen, as the service divides them. */
const sampleSize = (recipients: number, variants: number, percent: number) =>
  Math.max(Math.round((recipients * percent) / 100), Math.min(recipients, variants))

/** Whether the sample is sent and the other recipients wait for the winner. */
export function isWaitingForWinner(broadcast: Broadcast): boolean {
  const { status, variants, test_percent: percent, winner, recipients, counts } = broadcast
  if (status !== 'sending' || variants.length === 0 || percent === 100 || winner !== null || !recipients) return false
  return counts.pending <= recipients - sampleSize(recipients, variants.length, percent)
}

export type Plan = {
  /** The recipients that get an email at the start. */
  first: number
  /** Sentences. */
  lines: string[]
}

/** Says what will happen, for the last question before a start. `recipients` are those that will get the email. */
export function planOf(draft: Draft, recipients: number): Plan {
  const { schedule, variants } = draft
  const when = schedule.when === 'now' ? 'now' : `on ${localTimeText(schedule)}`
  const percent = Number(draft.test_percent)
  const lines: string[] = []
  let first = recipients
  if (variants.length === 0) lines.push(`${people(recipients)} will get it ${when}.`)
  else if (percent === 100) lines.push(`${people(recipients)} will get one of ${variants.length} variants ${when}.`)
  else {
    first = sampleSize(recipients, variants.length, percent)
    lines.push(`A sample of ${people(first)} (${percent}%) will get one of ${variants.length} variants ${when}.`)
    const others = `The other ${people(recipients - first)} will get`
    if (first < recipients)
      lines.push(
        draft.winner_by === 'manual'
          ? `${others} the variant that you choose afterwards.`
          : `${others} the winner, ${durationText(Number(draft.decide_after_seconds) * 1000)} after the sample is sent.`,
      )
  }
  if (draft.messages_per_hour !== '') {
    const rate = `At most ${count(draft.messages_per_hour)} emails are sent per hour`
    const ms = (first / draft.messages_per_hour) * 3_600_000
    lines.push(`${rate}, so ${first < recipients ? 'the sample' : 'sending'} takes ${aboutText(ms)}.`)
  }
  if (schedule.has_window) {
    const { days, from, to } = schedule.window
    const zone = schedule.when === 'local' ? 'the time zone of each recipient' : schedule.time_zone.replaceAll('_', ' ')
    lines.push(`Emails are sent only on ${daysText(days)}, ${from} to ${to} (${zone}).`)
  }
  if (schedule.when !== 'now')
    lines.push('The audience is read again at that time, so the numbers can change until then.')
  return { first, lines }
}

const people = (value: number) => pluralize(value, 'recipient', 'recipients')

const daysText = (days: Weekday[]) =>
  weekdays
    .filter(({ value }) => days.includes(value))
    .map(({ label }) => label)
    .join(', ')
