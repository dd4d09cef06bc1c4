import { Group, SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import type { LinkClick } from '../../../api/types.ts'
import { paths } from '../../../paths.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { emailText } from '../../../ui/email-text.ts'
import { TableList } from '../../../ui/list.tsx'
import { RowLink } from '../../../ui/row-link.tsx'
import { StatusBadge } from '../../../ui/status-badge.tsx'
import { Time } from '../../../ui/time.tsx'
import { CsvButton } from './csv-button.tsx'
import { allLinkClicks, type ClickFilter, type Period, useLinkClicks } from './results.api.ts'

const columns: Column<LinkClick>[] = [
  {
    header: 'Contact',
    phone: 'title',
    cell: ({ contact, machine }) => (
      <Group gap="xs">
        {contact ? (
          <RowLink to={paths.contact(contact.id)}>{emailText(contact.email)}</RowLink>
        ) : (
          <Text c="dimmed">Erased contact</Text>
        )}
        {contact?.first_name && (
          <Text size="xs" c="dimmed">
            {contact.first_name}
          </Text>
        )}
        {machine && <StatusBadge tone="neutral">Automated</StatusBadge>}
      </Group>
    ),
  },
  { header: 'When', align: 'right', cell: ({ occurred_at: at }) => <Time at={at} /> },
]

type Props = { flowId: string; link: string; period: Period; fileName: string; onClose: () => void }

/** Who clicked a link, newest first. */
export function LinkClicks({ flowId, link, period, fileName, onClose }: Props) {
  const [machine, setMachine] = useState<ClickFilter['machine']>('false')
  const filter = { ...period, link, machine }
  const clicks = useLinkClicks(flowId, filter)
  return (
    <Dialog opened onClose={onClose} title="Who clicked" size="lg">
      <Text size="sm" c="dimmed" className="break" mb="sm">
        {link}
      </Text>
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          aria-label="Clicks by"
          size="xs"
          data={[
            { value: 'false', label: 'People' },
            { value: 'true', label: 'Automated' },
            { value: '', label: 'All' },
          ]}
          value={machine}
          onChange={(value) => setMachine(value as ClickFilter['machine'])}
        />
        <CsvButton
          name={fileName}
          label="clicks"
          header={['email', 'first_name', 'clicked_at', 'automated', 'contact_id', 'message_id', 'link']}
          rows={async () => (await allLinkClicks(flowId, filter)).map((click) => [...cellsOf(click), link])}
        />
      </Group>
      <TableList
        label="Clicks"
        query={clicks}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No clicks' }}
      />
    </Dialog>
  )
}

const cellsOf = ({ contact, occurred_at, machine, message_id }: LinkClick) => [
  contact?.email,
  contact?.first_name,
  occurred_at,
  machine ? 'yes' : 'no',
  contact?.id,
  message_id,
]
