import { Anchor, Paper } from '@mantine/core'
import type { FlowResults } from '../../../api/types.ts'
import { ChangeLine } from '../../../engagement/overview/change-line.tsx'
import type { Measure } from '../../../engagement/overview/measures.ts'
import { count, share } from '../../../ui/numbers.ts'
import { colorOf, flowMeasures, isProblem } from './flow-measures.ts'
import classes from './funnel.module.css'

type Props = {
  results: FlowResults
  chosen: string
  choose: (key: string) => void
  /** Shows the emails that a figure counts. */
  showPeople: (key: string) => void
}

/** From sent to clicked, then what went wrong. Each step shows its chart, and each number leads to its people. */
export function Funnel({ results, chosen, choose, showPeople }: Props) {
  const firstProblem = flowMeasures.find(isProblem)
  return (
    <Paper withBorder component="section" aria-label="Funnel" className={classes.funnel}>
      {flowMeasures.map((measure) => (
        <div
          key={measure.key}
          className={classes.step}
          data-chosen={measure.key === chosen || undefined}
          data-first-problem={measure === firstProblem || undefined}
          title={measure.meaning}
        >
          <button
            type="button"
            className={classes.choose}
            aria-pressed={measure.key === chosen}
            onClick={() => choose(measure.key)}
          >
            {measure.label}
          </button>
          <Step measure={measure} results={results} showPeople={() => showPeople(measure.key)} />
        </div>
      ))}
    </Paper>
  )
}

type StepProps = { measure: Measure; results: FlowResults; showPeople: () => void }

function Step({ measure, results, showPeople }: StepProps) {
  const { totals } = results
  const value = measure.value(totals)
  const { sent } = totals
  const width = sent === 0 ? 0 : Math.min(1, value / sent)
  return (
    <>
      <span className={classes.track} aria-hidden>
        <span
          className={classes.bar}
          data-none={value === 0 || undefined}
          style={{ width: `${width * 100}%`, background: colorOf(measure) }}
        />
      </span>
      <span className={classes.count}>
        {value === 0 ? (
          count(value)
        ) : (
          <Anchor
            component="button"
            type="button"
            inherit
            underline="always"
            className={classes.people ?? ''}
            aria-label={`${measure.label}: ${count(value)}, show who`}
            onClick={showPeople}
          >
            {count(value)}
          </Anchor>
        )}
      </span>
      <span className={classes.rate}>{measure.rated ? share(value, sent) : ' '}</span>
      <span className={classes.change}>
        <ChangeLine measure={measure} overview={results} />
      </span>
      <Note measure={measure} results={results} />
    </>
  )
}

/** Automated opens and clicks are not in the number, and are stated apart. */
function Note({ measure, results: { totals } }: { measure: Measure; results: FlowResults }) {
  const automated =
    measure.key === 'opened' ? totals.emailOpen.machine : measure.key === 'clicked' ? totals.emailClick.machine : 0
  if (automated === 0) return null
  const what = measure.key === 'opened' ? 'automated opens' : 'automated clicks'
  return (
    <span className={classes.note}>
      plus {count(automated)} {automated === 1 ? what.slice(0, -1) : what}, not counted
    </span>
  )
}
