import type { ReactNode } from 'react'
import classes from './filters.module.css'

/** The row above a list. On a phone two stand beside each other, and the search takes a line of its own. */
export function Filters({ children }: { children: ReactNode }) {
  return <div className={classes.filters}>{children}</div>
}
