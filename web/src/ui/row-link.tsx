import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import classes from './row-link.module.css'

/** The link of a table's row: it is one word to a screen reader, and the whole row to a mouse. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} c="inherit" fw={600} underline="hover" className={`${classes.link} break`}>
      {children}
    </Anchor>
  )
}
