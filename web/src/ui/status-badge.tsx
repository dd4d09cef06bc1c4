import type { ReactNode } from 'react'
import classes from './status-badge.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'neutral'

export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      {children}
    </span>
  )
}
