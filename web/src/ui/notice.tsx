import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './notice.module.css'
import type { Tone } from './status-badge.tsx'

type Props = { tone: Tone; title?: string; icon?: ReactNode; role?: 'alert' | 'status'; children?: ReactNode }

const icons: Record<Tone, ReactNode> = {
  good: <IconCircleCheck size={18} aria-hidden />,
  warn: <IconAlertTriangle size={18} aria-hidden />,
  bad: <IconAlertTriangle size={18} aria-hidden />,
  info: <IconInfoCircle size={18} aria-hidden />,
  neutral: <IconInfoCircle size={18} aria-hidden />,
}

/** A message next to the content it concerns. */
export function Notice({ tone, title, icon, role, children }: Props) {
  return (
    <div className={classes.notice} data-tone={tone} role={role}>
      <span className={classes.icon}>{icon ?? icons[tone]}</span>
      <div className={classes.text}>
        {title && <strong className={classes.title}>{title}</strong>}
        {children && <div>{children}</div>}
      </div>
    </div>
  )
}
