import { IconSend } from '@tabler/icons-react'
import type { MessageStatus } from '../api/types.ts'
import { FlowSelect } from '../flows/flow-select.tsx'
import { FilterSelect } from '../ui/filters.tsx'
import { TableList } from '../ui/list.tsx'
import { LiveBadge } from '../ui/live-badge.tsx'
import { Page } from '../ui/page.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { messageColumns } from './message-columns.tsx'
import { messageStatusOptions } from './message-status.tsx'
import { useMessages } from './messages.api.ts'
import { isTestFilter, TestFilter } from './test-filter.tsx'

export function MessagesPage() {
  const { filter, field, filtered } = useFilters('query', 'status', 'flow', 'test')
  const { query, status, flow, test } = filter
  const messages = useMessages({
    query,
    status: status as MessageStatus | '',
    flow_id: flow,
    is_test: isTestFilter(test),
  })
  return (
    <Page wide title="Messages" description="Every email and its status." beside={<LiveBadge pages={messages} />}>
      <TableList
        label="Messages"
        query={messages}
        columns={messageColumns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SearchField label="Search messages" placeholder="Search by email or subject" {...field('query')} />
            <FilterSelect label="Status" placeholder="Any status" data={messageStatusOptions} {...field('status')} />
            <FlowSelect {...field('flow')} />
            <TestFilter {...field('test')} />
          </>
        }
        empty={{
          title: 'No emails yet',
          icon: IconSend,
          children: 'Send a test email from a flow, or call the API.',
        }}
        notFound={filtered && { title: 'No messages found', children: 'Try another search or filter.' }}
      />
    </Page>
  )
}
