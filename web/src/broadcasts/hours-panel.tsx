import { useQuery } from '@tanstack/react-query'
import { useMe } from '../accounts/session/session.api.ts'
import type { BroadcastDetail, BroadcastHours } from '../api/types.ts'
import { blue, vermilion } from '../engagement/overview/measures.ts'
import { ChartPanel } from '../ui/chart-panel.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { count } from '../ui/numbers.ts'
import { Load } from '../ui/states.tsx'
import { beingCounted, hoursQuery } from './broadcasts.api.ts'
import { timeIn, zoneName } from './local-time.ts'

type Hour = BroadcastHours['hours'][number]

const hourMs = 3_600_000
const series = [
  { name: 'opened', label: 'Opened', color: blue },
  { name: 'clicked', label: 'Clicked', color: vermilion },
]
const title = 'First 48 hours'

const hourText = (hour: string) => `Hour ${Number(hour) + 1} after the start`

/** When recipients opened the email and clicked. */
export function HoursPanel({ broadcast }: { broadcast: BroadcastDetail }) {
  const hours = useQuery(hoursQuery(broadcast.id))
  return <Load query={hours}>{(data) => <Hours {...data} />}</Load>
}

function Hours({ started_at: startedAt, counted_at: countedAt, hours }: BroadcastHours) {
  const zone = useMe().data?.organization.timezone
  const columns: Column<Hour>[] = [
    { header: 'Hour', phone: 'title', cell: ({ hour }) => count(hour + 1) },
    ...(startedAt === null || zone === undefined
      ? []
      : [
          {
            header: `From (${zoneName(zone)})`,
            cell: ({ hour }: Hour) => timeIn(zone)(new Date(Date.parse(startedAt) + hour * hourMs).toISOString()),
          },
        ]),
    { header: 'Opened', align: 'right', cell: ({ opened }) => count(opened) },
    { header: 'Clicked', align: 'right', cell: ({ clicked }) => count(clicked) },
  ]
  return (
    <ChartPanel
      title={title}
      description="By the hour of the first open and the first click."
      mb="xl"
      empty={countedAt === null ? beingCounted : 'No opens or clicks yet'}
      data={hours.map(({ hour, opened, clicked }) => ({ at: String(hour), opened, clicked }))}
      series={series}
      stacked={false}
      tickText={(hour) => `${Number(hour) + 1} h`}
      tooltipText={hourText}
      table={() => <DataTable label={title} columns={columns} rows={hours} rowKey={({ hour }) => String(hour)} />}
    />
  )
}
