import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** Short facts about one thing, each under its name. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <Paper withBorder p="md" mb="lg" className={classes.frame ?? ''}>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Paper>
  )
}
