import { useEffect, useRef } from 'react'
import { NavLink, useLocation } from 'react-router'
import classes from './tab-links.module.css'

type Props = { label: string; tabs: { to: string; label: string; end?: boolean }[] }

/** Tabs that are places of their own: each has an address, and the browser's back button works. */
export function TabLinks({ label, tabs }: Props) {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On a phone the row scrolls, and the tab one stands on may lie outside.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab changes with the path.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [pathname])
  return (
    <nav ref={nav} aria-label={label} className={classes.tabs}>
      {tabs.map((tab) => (
        <NavLink key={tab.to} to={tab.to} end={tab.end ?? false} className={classes.tab ?? ''}>
          {tab.label}
        </NavLink>
      ))}
    </nav>
  )
}
