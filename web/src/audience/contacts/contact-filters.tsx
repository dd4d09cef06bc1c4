import { Anchor, Button, Group, Paper, Select, Text } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { FilterSelect, Filters, optionsOf } from '../../ui/filters.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import type { useFilters } from '../../ui/use-filters.ts'
import { describeFilter } from '../segments/describe-filter.ts'
import { FilterBuilder } from '../segments/filter-builder.tsx'
import { toDraft, toFilter } from '../segments/filter-draft.ts'
import { parseFilter } from '../segments/filter-text.ts'
import { segmentsQuery, useNames } from '../segments/segments.api.ts'
import { contactStatusOptions } from './contact-status.tsx'
import { groupsQuery, importQuery } from './contacts.api.ts'

export const filterNames = ['query', 'group', 'segment', 'import', 'status', 'filter', 'sort'] as const
type FilterName = (typeof filterNames)[number]
type Props = Pick<ReturnType<typeof useFilters<FilterName>>, 'filter' | 'set' | 'field'>

const orders = [
  { value: '-created_at', label: 'Newest first' },
  { value: 'created_at', label: 'Oldest first' },
  { value: 'email', label: 'Email, A to Z' },
  { value: '-email', label: 'Email, Z to A' },
]

/** Narrow, so that all filters fit on one line. */
const width = { base: '100%', sm: 165 }

/** Search, group, segment and status, and conditions as in a segment. */
export function ContactFilters({ filter, set, field }: Props) {
  const groups = useQuery(groupsQuery)
  const segments = useQuery(segmentsQuery)
  const [editing, setEditing] = useState(false)
  return (
    <>
      <Filters>
        <SearchField label="Search contacts" placeholder="Search by email or name" {...field('query')} />
        <FilterSelect
          w={width}
          label="Group"
          placeholder="All groups"
          searchable
          data={optionsOf(groups.data)}
          {...field('group')}
        />
        <FilterSelect
          w={width}
          label="Segment"
          placeholder="All segments"
          searchable
          data={optionsOf(segments.data)}
          {...field('segment')}
        />
        <FilterSelect
          w={width}
          label="Status"
          placeholder="Any status"
          data={contactStatusOptions}
          {...field('status')}
        />
        <Select
          w={width}
          aria-label="Sort"
          allowDeselect={false}
          data={orders}
          value={filter.sort || '-created_at'}
          onChange={(value) => set('sort', value === '-created_at' ? null : value)}
        />
        <Button
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={editing}
          onClick={() => setEditing(!editing)}
        >
          Filter
        </Button>
      </Filters>
      {filter.import && <AppliedImport id={filter.import} onClear={() => set('import', null)} />}
      {editing ? (
        <Conditions text={filter.filter} set={(text) => set('filter', text)} onClose={() => setEditing(false)} />
      ) : (
        <Applied text={filter.filter} onClear={() => set('filter', null)} />
      )}
    </>
  )
}

type ConditionsProps = { text: string; set: (text: string | null) => void; onClose: () => void }

function Conditions({ text, set, onClose }: ConditionsProps) {
  const [draft, setDraft] = useState(() => toDraft(parseFilter(text)))
  const filter = toFilter(draft)
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="Filter">
      <FilterBuilder draft={draft} onChange={setDraft} />
      <Group gap="xs" mt="md">
        <Button
          disabled={!filter}
          onClick={() => {
            set(JSON.stringify(filter))
            onClose()
          }}
        >
          Apply filter
        </Button>
        <Button
          variant="default"
          onClick={() => {
            set(null)
            onClose()
          }}
        >
          {text ? 'Clear filter' : 'Cancel'}
        </Button>
        {filter && <SaveLink text={JSON.stringify(filter)} />}
      </Group>
    </Paper>
  )
}

function AppliedImport({ id, onClear }: { id: string; onClear: () => void }) {
  const { data: record } = useQuery(importQuery(id))
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm" className="break">
        From import:{' '}
        <Anchor component={Link} to={paths.contactImport(id)}>
          {record?.filename ?? '…'}
        </Anchor>
      </Text>
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Show all contacts
      </Button>
    </Group>
  )
}

function Applied({ text, onClear }: { text: string; onClear: () => void }) {
  const names = useNames()
  const filter = parseFilter(text)
  if (!filter) return null
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm" className="break">
        Filtered: {describeFilter(filter, names)}
      </Text>
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear filter
      </Button>
      <SaveLink text={text} />
    </Group>
  )
}

const SaveLink = ({ text }: { text: string }) => (
  <Button
    component={Link}
    to={`${paths.newSegment}?filter=${encodeURIComponent(text)}`}
    variant="subtle"
    size="compact-sm"
  >
    Save as segment
  </Button>
)
