import { Anchor } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'react-router'
import { keys } from '../api/keys.ts'
import type { BroadcastDetail, BroadcastRecipient, RecipientStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import type { Column } from '../ui/data-table.tsx'
import { describe } from '../ui/descriptions.ts'
import { emailText } from '../ui/email-text.ts'
import { ExportButton } from '../ui/export-button.tsx'
import { FilterSelect } from '../ui/filters.tsx'
import { TableList } from '../ui/list.tsx'
import { count } from '../ui/numbers.ts'
import { RowLink } from '../ui/row-link.tsx'
import { Section } from '../ui/section.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { RecipientBadge, recipientLooks } from './broadcast-status.tsx'
import { exportRecipients, isActive, useRecipients } from './broadcasts.api.ts'

const columns: Column<BroadcastRecipient>[] = [
  {
    header: 'Contact',
    phone: 'title',
    minWidth: '220px',
    cell: ({ contact_id: id, email }) =>
      email === null ? 'Erased contact' : <RowLink to={paths.contact(id)}>{emailText(email)}</RowLink>,
  },
  { header: 'Status', cell: ({ status }) => <RecipientBadge status={status} /> },
  { header: 'Reason', cell: ({ reason }) => (reason ? <span className="break">{describe(reason)}</span> : '–') },
  {
    header: 'Message',
    align: 'right',
    cell: ({ message_id: id }) =>
      id ? (
        <Anchor component={Link} to={paths.message(id)}>
          View
        </Anchor>
      ) : (
        '–'
      ),
  },
]

/** Recipients outside the sample get the winner, once it is chosen. */
function columnsOf({ variants, winner }: BroadcastDetail): Column<BroadcastRecipient>[] {
  if (variants.length === 0) return columns
  const [contact, ...others] = columns as [Column<BroadcastRecipient>, ...Column<BroadcastRecipient>[]]
  return [contact, { header: 'Variant', cell: ({ variant }) => variant ?? winner ?? 'Not chosen yet' }, ...others]
}

export function Recipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const { filter, field } = useFilters('recipients')
  const status = filter.recipients as RecipientStatus | ''
  const active = isActive(broadcast)
  const recipients = useRecipients(broadcast.id, { status }, active)
  const queries = useQueryClient()
  // The list is not polled when the broadcast has ended, so it is fetched a last time then.
  useEffect(() => {
    if (!active) return
    return () => void queries.invalidateQueries({ queryKey: keys.broadcastRecipients(broadcast.id, { status }) })
  }, [active, queries, broadcast.id, status])
  const options = Object.entries(recipientLooks).map(([value, { label }]) => ({
    value,
    label: `${label} (${count(broadcast.counts[value as RecipientStatus])})`,
  }))
  return (
    <Section
      title="Recipients"
      description={`The audience at the start, without contacts that were ${broadcast.service_announcement ? '' : 'unsubscribed or '}suppressed then.`}
      actions={
        <ExportButton size="xs" run={() => exportRecipients(broadcast.id, status, `${fileName(broadcast.name)}.csv`)} />
      }
    >
      <TableList
        label="Recipients"
        query={recipients}
        columns={columnsOf(broadcast)}
        rowKey={({ contact_id }) => contact_id}
        filters={<FilterSelect label="Status" placeholder="Any status" data={options} {...field('recipients')} />}
        empty={{ title: 'No recipients' }}
        notFound={status !== '' && { title: 'No recipients', children: 'No recipient has this status.' }}
      />
    </Section>
  )
}

const fileName = (name: string) => name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'broadcast'
