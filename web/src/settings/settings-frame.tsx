import { NavLink, Outlet, useLocation } from 'react-router'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import classes from './settings-frame.module.css'

const tabs = [
  { to: paths.webhooks, label: 'Webhooks' },
  { to: paths.apiKeys, label: 'API keys' },
  { to: paths.suppressions, label: 'Suppressions' },
  { to: paths.sending, label: 'Sending' },
  { to: paths.team, label: 'Team' },
  { to: paths.organization, label: 'Organization' },
]

export function SettingsFrame() {
  const { pathname } = useLocation()
  const tab = tabs.find((candidate) => pathname.startsWith(candidate.to))
  return (
    <Page title="Settings" tabTitle={tab ? `${tab.label} · Settings` : 'Settings'}>
      <nav aria-label="Settings" className={classes.tabs}>
        {tabs.map(({ to, label }) => (
          <NavLink key={to} to={to} className={classes.tab ?? ''}>
            {label}
          </NavLink>
        ))}
      </nav>
      <Outlet />
    </Page>
  )
}
