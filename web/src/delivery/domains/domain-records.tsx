import { Stack, Text } from '@mantine/core'
import type { DomainRecord } from '../../api/types.ts'
import { Copyable } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

const purposes: Record<DomainRecord['purpose'], string> = {
  ownership: 'Ownership',
  dkim: 'DKIM',
  spf: 'SPF',
  dmarc: 'DMARC',
  return_path: 'Return path',
  tracking: 'Link host',
}
const uses: Record<DomainRecord['purpose'], string> = {
  ownership: 'Proves that the domain is yours.',
  dkim: 'The key with which receivers check your signature.',
  spf: 'Allows your mail servers. Receivers check it at the return path.',
  dmarc: 'What receivers do with emails that fail the checks.',
  return_path: 'Bounces are returned to your domain.',
  tracking: 'Links in your emails have your domain.',
}

const states: Record<DomainRecord['status'], { tone: Tone; label: string }> = {
  ok: { tone: 'good', label: 'Found' },
  missing: { tone: 'bad', label: 'Missing' },
  wrong: { tone: 'warn', label: 'Different' },
  unknown: { tone: 'neutral', label: 'Not known' },
}
/** What is only recommended is no fault. */
const stateOf = ({ status, required }: DomainRecord) =>
  status === 'missing' && !required ? { tone: 'neutral' as const, label: 'Missing' } : states[status]

export function DomainRecords({ records }: { records: DomainRecord[] }) {
  return (
    <DataTable label="DNS records" columns={columns} rows={records} rowKey={({ type, name }) => `${type} ${name}`} />
  )
}

const columns: Column<DomainRecord>[] = [
  {
    header: 'Purpose',
    phone: 'title',
    minWidth: '170px',
    cell: ({ purpose, required }) => (
      <>
        {purposes[purpose]}
        <Text size="xs" c="dimmed">
          {required ? 'Required' : 'Recommended'}
        </Text>
        <Text size="xs" c="dimmed">
          {uses[purpose]}
        </Text>
      </>
    ),
  },
  { header: 'Type', cell: ({ type }) => type },
  {
    header: 'Name',
    phone: 'bare',
    minWidth: '300px',
    cell: ({ purpose, name, relative_name: relative }) => (
      <Stack gap={2}>
        <Copyable value={name} label={`Copy the name of ${purposes[purpose]}`} />
        <Text size="xs" c="dimmed" component="div">
          Or without the domain: <Copyable value={relative} label={`Copy the short name of ${purposes[purpose]}`} />
        </Text>
      </Stack>
    ),
  },
  {
    header: 'Value',
    phone: 'bare',
    minWidth: '280px',
    cell: ({ purpose, value }) => <Copyable value={value} label={`Copy the value of ${purposes[purpose]}`} />,
  },
  {
    header: 'Status',
    minWidth: '180px',
    cell: (record) => (
      <>
        <StatusBadge tone={stateOf(record).tone}>{stateOf(record).label}</StatusBadge>
        {record.detail && (
          <Text size="xs" c="dimmed" mt={4}>
            {record.detail}
          </Text>
        )}
        {record.status === 'wrong' && record.found && (
          <Text size="xs" c="dimmed" mt={4} className="break">
            Found: {record.found}
          </Text>
        )}
      </>
    ),
  },
]
