import { Outlet, useLocation } from 'react-router'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { TabLinks } from '../ui/tab-links.tsx'

const tabs = [
  { to: paths.webhooks, label: 'Webhooks' },
  { to: paths.eventExports, label: 'Exports' },
  { to: paths.apiKeys, label: 'API keys' },
  { to: paths.apiRequests, label: 'API requests' },
]

export function DevelopersFrame() {
  const { pathname } = useLocation()
  const tab = tabs.find((candidate) => pathname.startsWith(candidate.to))
  return (
    <Page title="Developers" tabTitle={tab ? tab.label : 'Developers'} wide>
      <TabLinks label="Developers" tabs={tabs} />
      <Outlet />
    </Page>
  )
}
