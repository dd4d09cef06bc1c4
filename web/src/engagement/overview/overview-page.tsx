import { SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import { omitEmpty } from '../../api/client.ts'
import { Notices } from '../../operations/notices/notices.tsx'
import { Page } from '../../ui/page.tsx'
import { Load } from '../../ui/states.tsx'
import { calendarDay } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Checklist } from './checklist.tsx'
import { DayPanel } from './day-panel.tsx'
import { measures } from './measures.ts'
import { overviewQuery } from './overview.api.ts'
import { daysOf, rangeOf, type Span, searchOf, spanIn } from './range.ts'
import { RangePicker } from './range-picker.tsx'
import { RecentActivity } from './recent-activity.tsx'
import { Tiles } from './tiles.tsx'
import { TopFlows } from './top-flows.tsx'

export function OverviewPage() {
  const me = useMe()
  const timezone = me.data?.organization.timezone
  if (timezone === undefined) {
    return (
      <Page title="Overview">
        <Load query={me} loading={<Loading />}>
          {() => null}
        </Load>
      </Page>
    )
  }
  return <Figures timezone={timezone} />
}

function Figures({ timezone }: { timezone: string }) {
  const [search, setSearch] = useSearchParams()
  const span = spanIn(search)
  const { filter, set } = useFilters('figure')
  const setSpan = (next: Span) => setSearch({ ...searchOf(next), ...omitEmpty(filter) }, { replace: true })
  const range = rangeOf(span, timezone)
  const overview = useQuery(overviewQuery(range, timezone))
  const measure = measures.find(({ key }) => key === filter.figure) ?? measures[0]!
  return (
    <Page title="Overview" actions={<RangePicker span={span} setSpan={setSpan} timezone={timezone} />}>
      <Checklist />
      <Notices />
      <Load query={overview} loading={<Loading />}>
        {(data) => (
          <>
            <Tiles overview={data} chosen={measure.key} choose={(key) => set('figure', key)} />
            <Text size="xs" c="dimmed" mt={6}>
              {calendarDay(data.start_date)} to {calendarDay(data.end_date)} ({data.timezone}). Rates are % of emails
              sent. Changes are compared with the previous {daysOf(data)} days (pts = percentage points).
            </Text>
            <DayPanel measure={measure} series={data.series} />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mt="lg">
              <TopFlows flows={data.top_flows} />
              <RecentActivity />
            </SimpleGrid>
          </>
        )}
      </Load>
    </Page>
  )
}

function Loading() {
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      <Skeleton height={90} />
      <Skeleton height={340} />
    </Stack>
  )
}
