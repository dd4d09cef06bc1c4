import { Group, TextInput } from '@mantine/core'
import { TimeZoneSelect } from '../ui/time-zone-select.tsx'
import { isPast, nowIn, type PlannedTime } from './draft.ts'
import type { DraftForm } from './draft-form.ts'

type Props = {
  form: {
    values: { schedule: PlannedTime }
    field: (path: 'schedule.at' | 'schedule.time_zone') => ReturnType<DraftForm['field']>
  }
}

/** When a broadcast is sent. A time that has passed is an error at once. */
export function PlannedTimeFields({ form: { values, field } }: Props) {
  const { when, time_zone: zone } = values.schedule
  return (
    <Group align="flex-start" grow preventGrowOverflow={false} gap="sm">
      <TextInput
        label="Date and time"
        type="datetime-local"
        required
        min={nowIn(zone)}
        max={nowIn(zone, 365)}
        {...field('schedule.at')}
        {...(isPast(values) && { error: 'Choose a time in the future.' })}
      />
      <TimeZoneSelect
        label={when === 'local' ? 'Time zone of other recipients' : 'Time zone'}
        {...field('schedule.time_zone')}
      />
    </Group>
  )
}
