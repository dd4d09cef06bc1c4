import type { ReactNode } from 'react'
import { paths } from '../../paths.ts'
import { Page } from '../../ui/page.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'

const tabs = [
  { to: paths.contacts, label: 'All contacts', end: true },
  { to: paths.groups, label: 'Groups' },
  { to: paths.segments, label: 'Segments' },
  { to: paths.imports, label: 'Imports' },
  { to: paths.suppressions, label: 'Suppressions' },
]

export function ContactsFrame({ tab, actions, children }: { tab?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <Page title="Contacts" {...(tab && { tabTitle: `${tab} · Contacts` })} actions={actions} wide>
      <TabLinks label="Contacts" tabs={tabs} />
      {children}
    </Page>
  )
}
