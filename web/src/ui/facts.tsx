import { Button, Collapse, Paper } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

type Fact = [name: string, value: ReactNode]

/** Short facts about one thing, each under its name. Those of `more` are folded. */
export function Facts({ facts, more = [] }: { facts: Fact[]; more?: Fact[] }) {
  const [showsMore, { toggle }] = useDisclosure(false)
  return (
    <Paper withBorder p="md" mb="lg" className={classes.frame ?? ''}>
      <List facts={facts} />
      {more.length > 0 && (
        <>
          <Collapse expanded={showsMore}>
            <div className={classes.more}>
              <List facts={more} />
            </div>
          </Collapse>
          <Button size="compact-sm" variant="subtle" mt="xs" ml={-8} onClick={toggle} aria-expanded={showsMore}>
            {showsMore ? 'Hide details' : 'Show details'}
          </Button>
        </>
      )}
    </Paper>
  )
}

const List = ({ facts }: { facts: Fact[] }) => (
  <dl className={classes.facts}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
