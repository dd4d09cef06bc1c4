import type { Overview } from '../../api/types.ts'
import { count, share } from '../../ui/numbers.ts'
import { ChangeLine } from './change-line.tsx'
import { measures, sentOf } from './measures.ts'
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
            <span>{measure.rated ? share(measure.value(overview.totals), sentOf(overview.totals)) : ' '}</span>
            <ChangeLine measure={measure} overview={overview} />
          </span>
        </button>
      ))}
    </div>
  )
}
