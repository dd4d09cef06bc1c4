import { Select } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { MessageStatus } from '../api/types.ts'
import { flowChoicesQuery } from '../flows/flows.api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Filters } from '../ui/filters.tsx'
import { LiveBadge } from '../ui/live-badge.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { messageColumns } from './message-columns.tsx'
import { messageStatusOptions } from './message-status.tsx'
import { useMessages } from './messages.api.ts'
import { isTestFilter, TestFilter } from './test-filter.tsx'

export function MessagesPage() {
  const { filter, set, filtered } = useFilters('query', 'status', 'flow', 'test')
  const { query, status, flow, test } = filter
  const messages = useMessages({
    query,
    status: status as MessageStatus | '',
    flow_id: flow,
    is_test: isTestFilter(test),
  })
  const flows = useQuery(flowChoicesQuery)
  return (
    <Page wide title="Messages" description="Every email and its status." beside={<LiveBadge pages={messages} />}>
      <Filters>
        <SearchField
          label="Search messages"
          placeholder="Search by email or subject"
          value={query}
          onChange={(value) => set('query', value)}
        />
        <Select
          aria-label="Status"
          placeholder="Any status"
          clearable
          data={messageStatusOptions}
          value={status || null}
          onChange={(value) => set('status', value)}
        />
        <Select
          aria-label="Flow"
          placeholder="All flows"
          clearable
          searchable
          data={flows.data?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          value={flow || null}
          onChange={(value) => set('flow', value)}
        />
        <TestFilter value={test} onChange={(value) => set('test', value)} />
      </Filters>
      <Load
        query={messages}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={filtered ? 'No messages found' : 'No emails yet'} icon={<IconSend size={32} aria-hidden />}>
            {filtered ? 'Try another search or filter.' : 'Send a test email from a flow, or call the API.'}
          </Empty>
        }
      >
        {(list) => <DataTable label="Messages" columns={messageColumns} rows={list} rowKey={(message) => message.id} />}
      </Load>
      <More pages={messages} />
    </Page>
  )
}
