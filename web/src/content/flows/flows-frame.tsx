import type { ReactNode } from 'react'
import { paths } from '../../paths.ts'
import { Page } from '../../ui/page.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'

const tabs = [
  { to: paths.flows, label: 'All flows', end: true },
  { to: paths.images, label: 'Images' },
  { to: paths.flowParts, label: 'Parts' },
]

export function FlowsFrame({ tab, actions, children }: { tab?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <Page
      title="Flows"
      {...(tab && { tabTitle: `${tab} · Flows` })}
      description="A flow is an email template. Send it through the API or as a broadcast."
      actions={actions}
      wide
    >
      <TabLinks label="Flows" tabs={tabs} />
      {children}
    </Page>
  )
}
