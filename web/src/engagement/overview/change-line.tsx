import { Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Overview } from '../../api/types.ts'
import { changeOf } from './change.ts'
import type { Measure } from './measures.ts'
import classes from './tiles.module.css'

type Props = { measure: Measure; overview: Pick<Overview, 'totals' | 'previous'> }

/** The change since the previous period, green if it is an improvement. */
export function ChangeLine({ measure, overview }: Props) {
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
