import { Checkbox, Chip, Fieldset, Group, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { fieldProblem } from '../api/api-error.ts'
import type { Weekday } from '../api/types.ts'
import { TimeZoneSelect } from '../ui/time-zone-select.tsx'
import type { FieldsProps } from './audience-fields.tsx'
import { isPast, nowIn, type When, weekdays } from './draft.ts'
import { DurationSelect } from './duration-select.tsx'

const delays = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
]

export function ScheduleFields({ draft, set, error }: FieldsProps) {
  const isPlanned = draft.when !== 'now'
  return (
    <Stack gap="md">
      <Radio.Group label="When" value={draft.when} onChange={(value) => set({ when: value as When })}>
        <Stack gap="xs" mt={6}>
          <Radio value="now" label="Now" description="When you start it." />
          <Radio value="at" label="At a set time" description="At the same moment for everybody." />
          <Radio
            value="local"
            label="At the recipient’s local time"
            description="For example at 9:00 in the morning of each recipient."
          />
        </Stack>
      </Radio.Group>
      {isPlanned && (
        <Group align="flex-start" grow preventGrowOverflow={false} gap="sm">
          <TextInput
            label="Date and time"
            type="datetime-local"
            required
            min={nowIn(draft.timeZone)}
            max={nowIn(draft.timeZone, 365)}
            value={draft.at}
            onChange={(event) => set({ at: event.currentTarget.value })}
            error={isPast(draft) ? 'Choose a time in the future.' : fieldProblem(error, 'schedule.at')}
          />
          <TimeZoneSelect
            label={draft.when === 'local' ? 'Time zone of other recipients' : 'Time zone'}
            value={draft.timeZone}
            onChange={(timeZone) => set({ timeZone })}
            error={fieldProblem(error, 'schedule.time_zone')}
          />
        </Group>
      )}
      {draft.when === 'local' && (
        <TextInput
          label="Attribute with the time zone"
          description="Contacts without a valid zone in it, such as Europe/Vienna, get the email at the time above."
          value={draft.timeZoneAttribute}
          onChange={(event) => set({ timeZoneAttribute: event.currentTarget.value })}
          error={fieldProblem(error, 'schedule.time_zone_attribute')}
        />
      )}
      <WindowFields draft={draft} set={set} error={error} />
      <NumberInput
        label="Maximum emails per hour"
        description="Leave empty to send as fast as the mail server accepts."
        placeholder="No limit"
        min={1}
        allowDecimal={false}
        thousandSeparator=","
        maw={320}
        value={draft.ratePerHour}
        onChange={(value) => set({ ratePerHour: typeof value === 'number' ? value : '' })}
        error={fieldProblem(error, 'messages_per_hour')}
      />
      {isPlanned && (
        <DurationSelect
          label="Expire if it can’t start within"
          description="A broadcast that is late by more than this, for example after an outage or a restored backup, expires and sends nothing."
          durations={delays}
          value={draft.missedAfter}
          onChange={(missedAfter) => set({ missedAfter })}
          error={fieldProblem(error, 'missed_after_seconds')}
        />
      )}
    </Stack>
  )
}

function WindowFields({ draft, set, error }: FieldsProps) {
  return (
    <Stack gap="xs">
      <Checkbox
        label="Only on certain days and hours"
        checked={draft.hasWindow}
        onChange={(event) => set({ hasWindow: event.currentTarget.checked })}
      />
      {draft.hasWindow && (
        <Fieldset legend="Sending hours">
          <Chip.Group multiple value={draft.days} onChange={(days) => set({ days: days as Weekday[] })}>
            <Group gap={6}>
              {weekdays.map(({ value, label }) => (
                <Chip key={value} value={value} size="sm">
                  {label}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
          {fieldProblem(error, 'schedule.window.days') && (
            <Text size="xs" c="var(--bad-text)" mt={4}>
              {fieldProblem(error, 'schedule.window.days')}
            </Text>
          )}
          <Group gap="sm" mt="sm" align="flex-start">
            <TextInput
              label="From"
              type="time"
              value={draft.from}
              onChange={(event) => set({ from: event.currentTarget.value })}
              error={fieldProblem(error, 'schedule.window.from')}
            />
            <TextInput
              label="To"
              type="time"
              value={draft.to}
              onChange={(event) => set({ to: event.currentTarget.value })}
              error={fieldProblem(error, 'schedule.window.to')}
            />
          </Group>
          <Text size="xs" c="dimmed" mt="xs">
            In {draft.when === 'local' ? 'the time zone of each recipient' : draft.timeZone.replaceAll('_', ' ')}.
            Outside of these hours the broadcast waits.
          </Text>
        </Fieldset>
      )}
    </Stack>
  )
}
