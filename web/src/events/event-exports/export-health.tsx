import type { EventExport } from '../../api/types.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DayAndClock } from '../../ui/time.tsx'

export function ExportHealth({ record }: { record: EventExport }) {
  if (record.status === 'paused') return <StatusBadge tone="neutral">Paused</StatusBadge>
  if (record.failing_since) {
    return (
      <StatusBadge tone="bad">
        Failing since <DayAndClock at={record.failing_since} />
      </StatusBadge>
    )
  }
  if (!record.last_file) return <StatusBadge tone="info">No files yet</StatusBadge>
  return <StatusBadge tone="good">Healthy</StatusBadge>
}

/** For example "acme-events/waxwing/". */
export const placeOf = ({ bucket, prefix }: EventExport) => `${bucket}/${prefix}`
