import { useEffect, useRef } from 'react'
import { NavLink, useLocation } from 'react-router'
import classes from './tab-links.module.css'

type Props = { label: string; tabs: { to: string; label: string; end?: boolean }[] }

/** Tabs with their own URLs, so that the back button works. */
export function TabLinks({ label, tabs }: Props) {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On a phone the row scrolls, and the current tab may be outside of the visible part.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab changes with the path.
  useEffect(() => {
    const row = nav.current
    const here = row?.querySelector<HTMLElement>('[aria-current]')
    // Not scrollIntoView: the next Tab key would then start here and skip the skip link.
    if (row && here) row.scrollLeft = here.offsetLeft - row.offsetLeft - (row.clientWidth - here.clientWidth) / 2
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
