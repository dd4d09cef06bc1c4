import { Grid, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { useMe } from '../../../accounts/session/session.api.ts'
import type { Flow, FlowResults } from '../../../api/types.ts'
import { DayPanel } from '../../../engagement/overview/day-panel.tsx'
import { daysOf, rangeOf, type Span, searchOf, spanIn } from '../../../engagement/overview/range.ts'
import { RangePicker } from '../../../engagement/overview/range-picker.tsx'
import { flowUsedQuery } from '../../../sending/messages/messages.api.ts'
import { fileNameOf } from '../../../ui/csv.ts'
import { Load } from '../../../ui/states.tsx'
import { calendarDay } from '../../../ui/time.tsx'
import { useFilters } from '../../../ui/use-filters.ts'
import { DomainsSection, ReasonsSection, VersionsSection } from './breakdown-sections.tsx'
import { FigurePeople, isFigure } from './figure-people.tsx'
import { flowMeasures } from './flow-measures.ts'
import { Funnel } from './funnel.tsx'
import { LinksSection } from './links-section.tsx'
import { MessagesSection } from './messages-section.tsx'
import { NeverSent } from './never-sent.tsx'
import { flowResultsQuery, type Period } from './results.api.ts'
import { Summary } from './summary.tsx'

type Props = { flow: Flow; onTest: () => void }

/** How the flow performed: the first tab of a flow. */
export function FlowResultsTab(props: Props) {
  const me = useMe()
  const timezone = me.data?.organization.timezone
  return timezone === undefined ? (
    <Load query={me} loading={<Loading />}>
      {() => null}
    </Load>
  ) : (
    <Results {...props} timezone={timezone} />
  )
}

function Results({ flow, onTest, timezone }: Props & { timezone: string }) {
  const [search, setSearch] = useSearchParams()
  const span = spanIn(search)
  const setSpan = (next: Span) =>
    setSearch(
      (now) => {
        for (const name of ['days', 'from', 'to']) now.delete(name)
        for (const [name, value] of Object.entries(searchOf(next))) now.set(name, value)
        return now
      },
      { replace: true },
    )
  const { set } = useFilters('people')
  const period = { ...rangeOf(span, timezone), timezone }
  const results = useQuery(flowResultsQuery(flow.id, period))
  // Without emails in the period, an older one is looked for.
  const isQuiet = results.data?.totals.sent === 0
  const used = useQuery({ ...flowUsedQuery(flow.id), enabled: isQuiet })
  const fileName = fileNameOf(flow.name)
  if (isQuiet && used.isPending) return <Loading />
  if (isQuiet && used.data === false)
    return (
      <>
        <NeverSent flow={flow} onTest={onTest} />
        <MessagesSection flowId={flow.id} fileName={fileName} optional />
      </>
    )
  return (
    <>
      <Group justify="space-between" gap="sm" mb="sm">
        <div aria-live="polite">{results.data && <Summary results={results.data} />}</div>
        <RangePicker span={span} setSpan={setSpan} timezone={timezone} />
      </Group>
      <Load query={results} loading={<Loading />}>
        {(data) => (
          <>
            <Figures flowId={flow.id} results={data} {...{ period, fileName }} />
            <LinksSection {...{ period, fileName }} flowId={flow.id} results={data} />
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
              <DomainsSection fileName={fileName} results={data} />
              <ReasonsSection fileName={fileName} results={data} showPeople={() => set('people', 'bounced')} />
            </SimpleGrid>
            <VersionsSection fileName={fileName} results={data} />
          </>
        )}
      </Load>
      <MessagesSection flowId={flow.id} fileName={fileName} />
    </>
  )
}

type FiguresProps = { flowId: string; results: FlowResults; period: Period; fileName: string }

function Figures({ flowId, results, period, fileName }: FiguresProps) {
  const { filter, set } = useFilters('figure', 'people')
  const { people } = filter
  const measure = flowMeasures.find(({ key }) => key === filter.figure) ?? flowMeasures[0]!
  return (
    <>
      <Grid gap="md" align="stretch">
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Funnel
            results={results}
            chosen={measure.key}
            choose={(key) => set('figure', key)}
            showPeople={(key) => set('people', key)}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <DayPanel measure={measure} series={results.days} mt={0} />
        </Grid.Col>
      </Grid>
      <Text size="xs" c="dimmed" mt={6} mb="xl">
        {calendarDay(results.start_date)} to {calendarDay(results.end_date)} ({results.timezone}). Rates are % of emails
        sent. Changes are compared with the previous {daysOf(results)} days (pts = percentage points). Select a number
        to see who it is.
      </Text>
      {isFigure(people) && (
        <FigurePeople {...{ flowId, period, fileName }} figure={people} onClose={() => set('people', null)} />
      )}
    </>
  )
}

function Loading() {
  return (
    <Stack gap="sm" role="status" aria-label="Loading">
      <Skeleton height={320} />
      <Skeleton height={200} />
    </Stack>
  )
}
