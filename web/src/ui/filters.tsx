import type { ReactNode } from 'react'
import classes from './filters.module.css'

/** The row above a list. On a phone the search has its own line, followed by two filters per line. */
export function Filters({ children }: { children: ReactNode }) {
  return <div className={classes.filters}>{children}</div>
}
