import { messageColumns } from '../../../sending/messages/message-columns.tsx'
import { messageStateOptions, stateFilter } from '../../../sending/messages/message-status.tsx'
import { exportMessages, useMessages } from '../../../sending/messages/messages.api.ts'
import { isTestFilter, TestFilter } from '../../../sending/messages/test-filter.tsx'
import { ExportButton } from '../../../ui/export-button.tsx'
import { FilterSelect } from '../../../ui/filters.tsx'
import { TableList } from '../../../ui/list.tsx'
import { SearchField } from '../../../ui/search-field.tsx'
import { Section } from '../../../ui/section.tsx'
import { useFilters } from '../../../ui/use-filters.ts'

const columns = messageColumns.filter(({ header }) => header !== 'Flow')

type Props = {
  flowId: string
  fileName: string
  /** Shows nothing if there are none. */
  optional?: boolean
}

/** The messages of the flow, newest first, whatever the period. */
export function MessagesSection({ flowId, fileName, optional = false }: Props) {
  const { filter, field, filtered } = useFilters('query', 'status', 'test')
  const asked = {
    query: filter.query,
    ...stateFilter(filter.status),
    flow_id: flowId,
    is_test: isTestFilter(filter.test),
  }
  const messages = useMessages(asked)
  if (optional && !filtered && !messages.data?.length) return null
  return (
    <Section
      title="Messages"
      description="All emails of this flow, newest first. Automated opens and clicks don’t count."
      actions={
        (messages.data?.length ?? 0) > 0 && (
          <ExportButton size="xs" run={() => exportMessages(asked, `${fileName}-messages.csv`)} />
        )
      }
    >
      <TableList
        label="Messages"
        query={messages}
        columns={columns}
        rowKey={({ id }) => id}
        filters={
          <>
            <SearchField label="Search messages" placeholder="Search by email or subject" {...field('query')} />
            <FilterSelect label="Status" placeholder="Any status" data={messageStateOptions} {...field('status')} />
            <TestFilter {...field('test')} />
          </>
        }
        empty={{ title: 'No emails yet', children: 'Send a test email, or call the API.' }}
        notFound={filtered && { title: 'No messages found', children: 'Try another search or filter.' }}
      />
    </Section>
  )
}
