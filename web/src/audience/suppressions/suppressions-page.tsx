import { Button, Text } from '@mantine/core'
import { IconBan, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reasonsQuery, removeSuppression, useSuppressions } from '../../accounts/settings/settings.api.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Suppression, SuppressionReason } from '../../api/types.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { describe } from '../../ui/descriptions.ts'
import { emailText } from '../../ui/email-text.ts'
import { FilterSelect } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { ContactsFrame } from '../contacts/contacts-frame.tsx'
import { AddSuppressions } from './add-suppressions.tsx'

const reasons: Record<SuppressionReason, string> = {
  hard_bounce: 'Hard bounce',
  complaint: 'Complaint',
  manual: 'Manual',
  unsubscribe: 'Unsubscribed',
}
const reasonOptions = Object.entries(reasons).map(([value, label]) => ({ value, label }))

export function SuppressionsPage() {
  const { filter, field, filtered } = useFilters('query', 'reason')
  const { query, reason } = filter
  const suppressions = useSuppressions({ query, reason: reason as SuppressionReason | '' })
  const [adding, setAdding] = useState(false)
  const invalidate = useInvalidate()
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add addresses
    </Button>
  )
  return (
    <ContactsFrame tab="Suppressions" actions={add}>
      <Text c="dimmed" mb="sm" maw={720}>
        Addresses that don’t receive email: after a hard bounce or a complaint, or added manually. Unsubscribed contacts
        don’t receive marketing email.
      </Text>
      <TableList
        label="Suppressions"
        query={suppressions}
        columns={columns(() => invalidate(keys.suppressions, keys.contacts))}
        rowKey={(row) => `${row.email} ${row.reason}`}
        filters={
          <>
            <SearchField label="Search addresses" {...field('query')} />
            <FilterSelect label="Reason" placeholder="All reasons" data={reasonOptions} {...field('reason')} />
          </>
        }
        empty={{
          title: 'No suppressed addresses',
          icon: IconBan,
          children: 'Addresses that hard-bounce or report spam will appear here.',
        }}
        notFound={filtered && { title: 'No addresses found', children: 'Try another search or reason.' }}
      />
      {adding && <AddSuppressions onClose={() => setAdding(false)} />}
    </ContactsFrame>
  )
}

/** All reasons of an address are removed at once, so all are named, including those that the list does not show. */
function RemovalDetails({ row }: { row: Suppression }) {
  const found = useQuery(reasonsQuery(row.email))
  const names = reasonOptions.filter(({ value }) => found.data?.some((reason) => reason === value))
  return (
    <>
      <strong>{emailText(row.email)}</strong> will receive email again.{' '}
      {names.length > 0
        ? `This removes every reason for this address: ${names.map(({ label }) => label).join(', ')}.`
        : 'This removes every reason for this address. If the contact unsubscribed, they will receive marketing email again.'}{' '}
      {found.data?.includes('unsubscribe') && (
        <strong>This contact unsubscribed and will receive marketing email again. </strong>
      )}
      If the address hard-bounces or reports spam again, it will be suppressed again.
    </>
  )
}

const columns = (refresh: () => Promise<unknown>): Column<Suppression>[] => [
  { header: 'Address', phone: 'title', minWidth: '260px', cell: (row) => <Text fw={600}>{emailText(row.email)}</Text> },
  {
    header: 'Reason',
    cell: (row) => (
      <StatusBadge tone={row.reason === 'hard_bounce' || row.reason === 'complaint' ? 'bad' : 'neutral'}>
        {reasons[row.reason] ?? row.reason}
      </StatusBadge>
    ),
  },
  { header: 'Detail', phone: 'hide', cell: (row) => <Text size="xs">{row.detail ? describe(row.detail) : '–'}</Text> },
  { header: 'Added', align: 'right', cell: (row) => <Time at={row.created_at} /> },
  {
    header: 'Actions',
    align: 'right',
    phone: 'bare',
    cell: (row) => (
      <ConfirmButton
        size="compact-sm"
        aria-label={`Remove ${row.email}`}
        confirm={{
          title: 'Remove suppression',
          action: 'Remove suppression',
          children: <RemovalDetails row={row} />,
          run: async () => {
            await removeSuppression(row.email)
            await refresh()
          },
        }}
      >
        Remove
      </ConfirmButton>
    ),
  },
]
