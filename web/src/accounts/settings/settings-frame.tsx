import { Outlet, useLocation } from 'react-router'
import { paths } from '../../paths.ts'
import { Page } from '../../ui/page.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'

const tabs = [
  { to: paths.organization, label: 'Organization' },
  { to: paths.team, label: 'Team' },
  { to: paths.brand, label: 'Brand' },
  { to: paths.profile, label: 'Profile' },
]

export function SettingsFrame() {
  const { pathname } = useLocation()
  const tab = tabs.find((candidate) => pathname.startsWith(candidate.to))
  return (
    <Page title={tab?.label ?? 'Settings'} tabTitle={tab ? `${tab.label} · Settings` : 'Settings'}>
      <TabLinks label="Settings" tabs={tabs} />
      <Outlet />
    </Page>
  )
}
