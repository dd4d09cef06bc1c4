import { NavLink } from 'react-router'
import classes from './tab-links.module.css'

type Props = { label: string; tabs: { to: string; label: string; end?: boolean }[] }

/** Tabs that are places of their own: each has an address, and the browser's back button works. */
export function TabLinks({ label, tabs }: Props) {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {tabs.map((tab) => (
        <NavLink key={tab.to} to={tab.to} end={tab.end ?? false} className={classes.tab ?? ''}>
          {tab.label}
        </NavLink>
      ))}
    </nav>
  )
}
