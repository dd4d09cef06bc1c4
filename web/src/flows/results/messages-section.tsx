import type { MessageStatus } from '../../api/types.ts'
import { messageColumns } from '../../messages/message-columns.tsx'
import { messageStatusOptions } from '../../messages/message-status.tsx'
import { useMessages } from '../../messages/messages.api.ts'
import { isTestFilter, TestFilter } from '../../messages/test-filter.tsx'
import { FilterSelect } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { count } from '../../ui/numbers.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { Section } from '../../ui/section.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { CsvButton } from './csv-button.tsx'
import { allMessages, exportRowsMax } from './results.api.ts'

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
    status: filter.status as MessageStatus | '',
    flow_id: flowId,
    is_test: isTestFilter(filter.test),
  }
  const messages = useMessages(asked)
  if (optional && !filtered && !messages.data?.length) return null
  return (
    <Section
      title="Messages"
      description={`All emails of this flow, newest first. The CSV file has up to ${count(exportRowsMax)} rows.`}
      actions={
        (messages.data?.length ?? 0) > 0 && (
          <CsvButton
            name={`${fileName}-messages`}
            label="messages"
            header={[
              'message_id',
              'contact_id',
              'email',
              'subject',
              'status',
              'reason',
              'test',
              'queued_at',
              'sent_at',
            ]}
            rows={async () =>
              (await allMessages(asked)).map((message) => [
                ...[message.id, message.contact.id, message.contact.email, message.subject, message.status],
                ...[message.reason, message.is_test ? 'true' : 'false', message.queued_at, message.sent_at],
              ])
            }
          />
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
            <FilterSelect label="Status" placeholder="Any status" data={messageStatusOptions} {...field('status')} />
            <TestFilter {...field('test')} />
          </>
        }
        empty={{ title: 'No emails yet', children: 'Send a test email, or call the API.' }}
        notFound={filtered && { title: 'No messages found', children: 'Try another search or filter.' }}
      />
    </Section>
  )
}
