import { IconActivity } from '@tabler/icons-react'
import type { EventName } from '../../api/types.ts'
import { FlowSelect } from '../../content/flows/flow-select.tsx'
import { Notices, PastNotices } from '../../operations/notices/notices.tsx'
import { FilterSelect } from '../../ui/filters.tsx'
import { TableList } from '../../ui/list.tsx'
import { LiveBadge } from '../../ui/live-badge.tsx'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { eventColumns } from './event-list.tsx'
import { eventOptions } from './event-names.tsx'
import { type EventFilter, useEvents } from './events.api.ts'

const sources = [
  { value: 'false', label: 'People only' },
  { value: 'true', label: 'Automated only' },
]

export function ActivityPage() {
  const { filter, field, filtered } = useFilters('event', 'flow', 'machine')
  const { event, flow, machine } = filter
  const events = useEvents({
    event_name: event as EventName | '',
    flow_id: flow,
    machine: machine as EventFilter['machine'],
  })
  return (
    <Page
      wide
      title="Activity"
      description="Sends, opens, clicks and bounces as they happen."
      beside={<LiveBadge pages={events} />}
    >
      <Notices />
      <PastNotices />
      <TableList
        label="Activity"
        query={events}
        columns={eventColumns}
        rowKey={({ id }) => id}
        filters={
          <>
            <FilterSelect label="Event type" placeholder="All events" data={eventOptions} {...field('event')} />
            <FlowSelect {...field('flow')} />
            <FilterSelect label="Source" placeholder="Any source" data={sources} {...field('machine')} />
          </>
        }
        empty={{
          title: 'No activity yet',
          icon: IconActivity,
          children: 'Opens, clicks and bounces will appear here live.',
        }}
        notFound={filtered && { title: 'No activity found', children: 'Try other filters.' }}
      />
    </Page>
  )
}
