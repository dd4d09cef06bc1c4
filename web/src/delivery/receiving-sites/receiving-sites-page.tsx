import { Button, Text } from '@mantine/core'
import { IconMailbox, IconPencil, IconPlus, IconRestore } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { ReceivingSite } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { GuideLink } from '../../ui/api-reference.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { TableList } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DayAndClock } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { receivingSitesQuery, resetReceivingSite } from './receiving-sites.api.ts'
import { SiteDialog } from './site-dialog.tsx'

const back = { to: paths.mailServers, label: 'Mail servers' }

export function ReceivingSitesPage() {
  const sites = useQuery(receivingSitesQuery)
  const [editing, setEditing] = useState<ReceivingSite | 'new'>()
  return (
    <Page
      title="Limits per mailbox provider"
      back={back}
      wide
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setEditing('new')}>
          Add limit
        </Button>
      }
    >
      <Section
        title="Limits per mailbox provider"
        titleHidden
        description={
          <>
            How much email each provider gets at most, from mail servers that apply these limits. See the{' '}
            <GuideLink name="limits">guide to limits</GuideLink>.
          </>
        }
      >
        <TableList
          label="Limits per mailbox provider"
          query={sites}
          columns={columnsOf(setEditing)}
          rowKey={({ site }) => site}
          empty={{ title: 'No mailbox providers', icon: IconMailbox }}
        />
      </Section>
      {editing && <SiteDialog site={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
    </Page>
  )
}

const columnsOf = (edit: (site: ReceivingSite) => void): Column<ReceivingSite>[] => [
  {
    header: 'Provider',
    phone: 'title',
    cell: (site) => (
      <>
        {site.name}
        <Text size="xs" c="dimmed" className="break">
          {membersOf(site)}
        </Text>
      </>
    ),
  },
  { header: 'Emails per second', align: 'right', cell: (site) => limitText(site.messages_per_second) },
  { header: 'Emails per day', align: 'right', cell: (site) => limitText(site.messages_per_day) },
  { header: 'State', cell: (site) => <SiteState site={site} /> },
  { header: 'Actions', align: 'right', phone: 'corner', cell: (site) => <SiteActions site={site} edit={edit} /> },
]

const limitText = (limit: number | null) => limit?.toLocaleString('en') ?? 'No limit'

const shownDomains = 3

function membersOf({ domains, mx_suffixes: suffixes }: ReceivingSite): string {
  const names = domains.length > 0 ? domains : suffixes.map((suffix) => `*${suffix}`)
  const more = names.length - shownDomains
  return `${names.slice(0, shownDomains).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function SiteState({ site }: { site: ReceivingSite }) {
  if (site.slowed_until)
    return (
      <>
        <StatusBadge tone="warn">
          Slowed down until <DayAndClock at={site.slowed_until} />
        </StatusBadge>
        <Text size="xs" c="dimmed" className="break">
          {site.slowed_reason}
        </Text>
      </>
    )
  return site.is_changed ? <StatusBadge tone="neutral">Changed</StatusBadge> : 'Default'
}

function SiteActions({ site, edit }: { site: ReceivingSite; edit: (site: ReceivingSite) => void }) {
  const invalidate = useInvalidate()
  const reset = async () => {
    await resetReceivingSite(site.site)
    await invalidate(keys.receivingSites)
    toast('Limits reset.')
  }
  return (
    <ActionMenu
      row={site.name}
      actions={[
        { label: 'Change limits', icon: IconPencil, run: () => edit(site) },
        (site.is_changed || site.slowed_until !== null) && {
          label: 'Reset',
          icon: IconRestore,
          confirm: {
            title: `Reset ${site.name}`,
            children: 'The default limits apply again, and email is no longer slowed down.',
            action: 'Reset',
            run: reset,
          },
        },
      ]}
    />
  )
}
