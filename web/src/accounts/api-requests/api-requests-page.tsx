import { SegmentedControl, Text } from '@mantine/core'
import { IconListDetails } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ApiRequest, ApiRequestStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { FilterSelect, optionsOf } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Section } from '../../ui/section.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { apiKeysQuery } from '../settings/settings.api.ts'
import { useApiRequests } from './api-requests.api.ts'
import { durationOf, notSentText, RequestStatus } from './request-status.tsx'

const statuses = [
  { value: '', label: 'All' },
  { value: '2xx', label: 'Successful' },
  { value: '4xx', label: 'Rejected' },
  { value: '5xx', label: 'Failed' },
]

const columns: Column<ApiRequest>[] = [
  {
    header: 'Request',
    phone: 'title',
    minWidth: '320px',
    cell: (request) => (
      <>
        <RowLink to={paths.apiRequest(request.request_id)}>
          {request.method} {request.path}
        </RowLink>
        {request.via !== 'api' && (
          <>
            {' '}
            <StatusBadge tone="neutral">{request.via.toUpperCase()}</StatusBadge>
          </>
        )}
        {(request.error_message ?? request.not_sent) && (
          <Text size="xs" c="dimmed" className="break">
            {request.error_message ?? notSentText(request)}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Status', phone: 'corner', cell: (request) => <RequestStatus request={request} /> },
  {
    header: 'API key',
    cell: ({ api_key_name: name }) => (
      <div className="one-line" style={{ maxWidth: 160 }} title={name ?? undefined}>
        {name ?? '–'}
      </div>
    ),
  },
  { header: 'Duration', align: 'right', cell: durationOf },
  { header: 'Time', align: 'right', cell: (request) => <Time at={request.at} /> },
]

export function ApiRequestsPage() {
  const { filter, field, filtered } = useFilters('query', 'status', 'key')
  const apiKeys = useQuery(apiKeysQuery)
  const requests = useApiRequests({
    search: filter.query,
    status: filter.status as ApiRequestStatus | '',
    api_key_id: filter.key,
  })
  return (
    <Section
      title="API requests"
      titleHidden
      description={
        <>
          The last requests of each API key, for 30 days. Not every request of a busy key is kept. See{' '}
          <GuideLink name="accounts#api-requests">what is recorded</GuideLink>.
        </>
      }
    >
      <TableList
        label="API requests"
        query={requests}
        columns={columns}
        rowKey={(request) => request.request_id}
        filters={
          <>
            <SearchField label="Search requests" placeholder="Search by path or request ID" {...field('query')} />
            <SegmentedControl aria-label="Status" size="xs" data={statuses} {...field('status')} />
            <FilterSelect
              label="API key"
              placeholder="All API keys"
              searchable
              data={optionsOf(apiKeys.data)}
              {...field('key')}
            />
          </>
        }
        empty={{
          title: 'No API requests yet',
          icon: IconListDetails,
          children: 'Requests that your apps make with an API key will appear here within seconds.',
        }}
        notFound={filtered && { title: 'No requests found', children: 'Try another search or filter.' }}
      />
    </Section>
  )
}
