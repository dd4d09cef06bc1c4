import { Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Overview } from '../api/types.ts'
import { count, share } from '../ui/numbers.ts'
import { changeOf } from './change.ts'
import { type Measure, measures } from './measures.ts'
import classes from './tiles.module.css'

type Props = { overview: Overview; chosen: string; choose: (key: string) => void }

/** The six statistics. Each is a button that shows its chart below. */
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
  const change = changeOf(measure, overview)
  if (change.by === undefined)
    return (
      <Text span size="xs" c="dimmed" title={change.before}>
        –
      </Text>
    )
  const tone = change.by === 0 ? 'same' : change.by > 0 === measure.moreIsBetter ? 'better' : 'worse'
  return (
    <span className={classes.change} data-tone={tone} title={change.before}>
      {change.by > 0 && <IconArrowUpRight size={14} role="img" aria-label="up" />}
      {change.by < 0 && <IconArrowDownRight size={14} role="img" aria-label="down" />}
      {Math.abs(change.by)}
      {change.unit}
    </span>
  )
}
