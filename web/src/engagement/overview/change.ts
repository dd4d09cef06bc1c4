import type { Overview } from '../../api/types.ts'
import { count, share } from '../../ui/numbers.ts'
import { type Measure, sentOf } from './measures.ts'

/** The change since the previous period. `by` is undefined if the periods cannot be compared. */
type Change = { by?: number; unit?: string; before: string }

const smallRate = 0.01

/** Rates are compared in percentage points, because more emails have more opens and more bounces. */
export function changeOf(measure: Measure, { totals, previous }: Pick<Overview, 'totals' | 'previous'>): Change {
  const now = measure.value(totals)
  const before = measure.value(previous)
  if (measure.rated) return changeOfRate(now, sentOf(totals), before, sentOf(previous))
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
  // The same precision as the rates.
  const digits = Math.max(...rates) < smallRate ? 2 : 1
  return {
    by: Number(((rates[0] - rates[1]) * 100).toFixed(digits)),
    unit: ' pts',
    before: `${share(before, sentBefore)} in the previous period, in percentage points`,
  }
}
