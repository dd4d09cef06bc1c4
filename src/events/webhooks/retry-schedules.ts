export const retrySchedules = ['standard', 'extended'] as const
export type RetrySchedule = (typeof retrySchedules)[number]

/** Seconds before the second attempt, the third, and so on. */
export type RetryDelays = Readonly<Record<RetrySchedule, readonly number[]>>

/** 30 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h: 8 attempts over about 28 hours. */
const extended = [30, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const

export const retryDelaysOf = (standard: readonly number[]): RetryDelays => ({ standard, extended })

/** For example "3 times over 3.5 minutes", to follow "retry" or "retried". */
export function scheduleInWords(delays: readonly number[]): string {
  const total = delays.reduce((sum, delay) => sum + delay, 0)
  const span = total === 0 ? 'at once' : `${delays.length === 1 ? 'after' : 'over'} ${durationInWords(total)}`
  return `${delays.length === 1 ? 'once' : `${delays.length} times`} ${span}`
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** In the largest unit with a value of at least two, or the smallest unit. Values below ten are rounded to halves. */
function durationInWords(seconds: number): string {
  const [unit, length] =
    seconds >= 2 * day
      ? ['day', day]
      : seconds >= 2 * hour
        ? ['hour', hour]
        : seconds >= 2 * minute
          ? ['minute', minute]
          : ['second', 1]
  const exact = seconds / length
  const step = exact < 10 ? 0.5 : 1
  const rounded = Math.max(step, Math.round(exact / step) * step)
  const number = rounded.toLocaleString('en')
  return `${rounded === exact ? '' : 'about '}${number} ${unit}${rounded === 1 ? '' : 's'}`
}
