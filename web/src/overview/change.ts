import type { Overview } from '../api/types.ts'
import { count, share } from '../ui/numbers.ts'
import type { Measure } from './measures.ts'

/** How far a figure moved since the range before, which is told in a sentence. No `by` where nothing can be compared. */
type Change = { by?: number; unit?: string; before: string }

const smallRate = 0.01

/** More mail has more opens and more bounces: what is a share of sent mail is compared as one, in percentage points. */
export function changeOf(measure: Measure, { totals, previous }: Overview): Change {
  const now = measure.value(totals)
  const before = measure.value(previous)
  if (measure.rated) return changeOfRate(now, totals.emailSent.total, before, previous.emailSent.total)
  if (before === 0) return { before: 'None in the previous period' }
  return {
    by: Math.round(((now - before) / before) * 100),
    unit: '%',
    before: `${count(before)} in the previous period`,
  }
}

function changeOfRate(now: number, sentNow: number, before: number, sentBefore: number): Change {
  if (sentNow === 0) return { before: 'Nothing was sent in this period' }
  if (sentBefore === 0) return { before: 'Nothing was sent in the previous period' }
  const rates = [now / sentNow, before / sentBefore] as const
  // As fine as the rates themselves are shown.
  const digits = Math.max(...rates) < smallRate ? 2 : 1
  return {
    by: Number(((rates[0] - rates[1]) * 100).toFixed(digits)),
    unit: ' pts',
    before: `${share(before, sentBefore)} in the previous period, in percentage points`,
  }
}
