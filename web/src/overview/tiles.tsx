import { Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Overview } from '../api/types.ts'
import { count, share } from '../ui/numbers.ts'
import { type Measure, measures } from './measures.ts'
import classes from './tiles.module.css'

type Props = { overview: Overview; chosen: string; choose: (key: string) => void }

/** The six figures. Each is a button: it decides what the chart below shows. */
export function Tiles({ overview, chosen, choose }: Props) {
  return (
    <div className={classes.tiles}>
      {measures.map((measure) => (
        <button
          key={measure.key}
          type="button"
          className={classes.tile}
          aria-pressed={measure.key === chosen}
          title={measure.meaning}
          onClick={() => choose(measure.key)}
        >
          <span className={classes.label}>{measure.label}</span>
          <span className={classes.value}>{count(measure.value(overview.totals))}</span>
          <span className={classes.foot}>
            <span>{measure.rated ? share(measure.value(overview.totals), overview.totals.emailSent.total) : ' '}</span>
            <Change measure={measure} overview={overview} />
          </span>
        </button>
      ))}
    </div>
  )
}

function Change({ measure, overview }: { measure: Measure; overview: Overview }) {
  const now = measure.value(overview.totals)
  const before = measure.value(overview.previous)
  if (before === 0)
    return (
      <Text span size="xs" c="dimmed" title="Nothing in the range before">
        –
      </Text>
    )
  const change = Math.round(((now - before) / before) * 100)
  const tone = change === 0 ? 'same' : change > 0 === measure.moreIsBetter ? 'better' : 'worse'
  return (
    <span className={classes.change} data-tone={tone} title={`${count(before)} in the range before`}>
      {change > 0 && <IconArrowUpRight size={14} role="img" aria-label="up" />}
      {change < 0 && <IconArrowDownRight size={14} role="img" aria-label="down" />}
      {Math.abs(change)}%
    </span>
  )
}
