import { useState } from 'react'

const windowMs = 30_000
/** A rate from a shorter time would jump. */
const measuredMsMin = 2_000

type Sample = { at: number; done: number }
export type Rate = { perHour: number; leftMs: number }

/**
 * The speed of the last half minute and the time that the rest takes at this speed. Undefined until it can be measured, and while
 * nothing is sent: a pause does not count.
 */
export function useRate(done: number, all: number, updatedAt: number, isSending: boolean): Rate | undefined {
  const [samples, setSamples] = useState<Sample[]>([])
  const last = samples.at(-1)
  // Added while rendering, so that the result is shown at once.
  if (!isSending) {
    if (last) setSamples([])
  } else if (!last || last.at !== updatedAt)
    setSamples([...samples.filter(({ at }) => at > updatedAt - windowMs), { at: updatedAt, done }])
  const first = samples[0]
  if (!isSending || !first || !last) return undefined
  const ms = last.at - first.at
  const perMs = (last.done - first.done) / ms
  if (ms < measuredMsMin || perMs <= 0) return undefined
  return { perHour: perMs * 3_600_000, leftMs: (all - last.done) / perMs }
}

const units = [
  { ms: 86_400_000, one: 'day', many: 'days' },
  { ms: 3_600_000, one: 'hour', many: 'hours' },
  { ms: 60_000, one: 'minute', many: 'minutes' },
]

/** A rough duration, such as “about 3 minutes”. */
export const aboutText = (ms: number) => (ms < units.at(-1)!.ms ? 'less than a minute' : `about ${durationText(ms)}`)

/** In the largest unit that fits, such as “4 hours”. */
export function durationText(ms: number): string {
  const unit = units.find((each) => ms >= each.ms) ?? units.at(-1)!
  const value = Math.round(ms / unit.ms)
  return `${value} ${value === 1 ? unit.one : unit.many}`
}
