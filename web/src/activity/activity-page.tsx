import { Select } from '@mantine/core'
import { IconActivity } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { EventName } from '../api/types.ts'
import { flowChoicesQuery } from '../flows/flows.api.ts'
import { Filters } from '../ui/filters.tsx'
import { LiveBadge } from '../ui/live-badge.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { EventList } from './event-list.tsx'
import { eventOptions } from './event-names.tsx'
import { type EventFilter, useEvents } from './events.api.ts'
import { Notices } from './notices.tsx'

const sources = [
  { value: 'false', label: 'People only' },
  { value: 'true', label: 'Automated only' },
]

export function ActivityPage() {
  const { filter, set, filtered } = useFilters('event', 'flow', 'machine')
  const { event, flow, machine } = filter
  const events = useEvents({
    event_name: event as EventName | '',
    flow_id: flow,
    machine: machine as EventFilter['machine'],
  })
  const flows = useQuery(flowChoicesQuery)
  return (
    <Page
      wide
      title="Activity"
      description="Sends, opens, clicks and bounces as they happen."
      beside={<LiveBadge pages={events} />}
    >
      <Notices />
      <Filters>
        <Select
          aria-label="Event type"
          placeholder="All events"
          clearable
          data={eventOptions}
          value={event || null}
          onChange={(value) => set('event', value)}
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
        <Select
          aria-label="Source"
          placeholder="Any source"
          clearable
          data={sources}
          value={machine || null}
          onChange={(value) => set('machine', value)}
        />
      </Filters>
      <Load
        query={events}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty
            title={filtered ? 'No activity found' : 'No activity yet'}
            icon={<IconActivity size={32} aria-hidden />}
          >
            {filtered ? 'Try other filters.' : 'Opens, clicks and bounces will appear here live.'}
          </Empty>
        }
      >
        {(list) => <EventList events={list} />}
      </Load>
      <More pages={events} />
    </Page>
  )
}
