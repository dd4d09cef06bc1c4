import { IconSend } from '@tabler/icons-react'
import { useMe } from '../../accounts/session/session.api.ts'
import { FlowSelect } from '../../content/flows/flow-select.tsx'
import { DateFilter, datesOf } from '../../ui/date-filter.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { FilterSelect } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { LiveBadge } from '../../ui/live-badge.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { messageColumns } from './message-columns.tsx'
import { messageStateOptions, stateFilter } from './message-status.tsx'
import { exportMessages, useMessages } from './messages.api.ts'
import { isTestFilter, TestFilter } from './test-filter.tsx'

export function MessagesPage() {
  const timezone = useMe().data?.organization.timezone
  const { filter, field, filtered } = useFilters('query', 'status', 'flow', 'test', 'period', 'from', 'to')
  const wanted = {
    query: filter.query,
    ...stateFilter(filter.status),
    ...datesOf(filter, timezone),
    flow_id: filter.flow,
    is_test: isTestFilter(filter.test),
  }
  const messages = useMessages(wanted)
  return (
    <Page
      wide
      title="Messages"
      description="Every email and the last thing that happened to it. Automated opens and clicks don’t count."
      beside={<LiveBadge pages={messages} />}
      actions={<ExportButton run={() => exportMessages(wanted, 'messages.csv')} />}
    >
      <TableList
        label="Messages"
        query={messages}
        columns={messageColumns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SearchField label="Search messages" placeholder="Search by email or subject" {...field('query')} />
            <FilterSelect label="Status" placeholder="Any status" data={messageStateOptions} {...field('status')} />
            <DateFilter period={field('period')} from={field('from')} to={field('to')} timezone={timezone} />
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
