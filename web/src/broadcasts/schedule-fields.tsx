import { Checkbox, Chip, Fieldset, Group, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { weekdays } from './draft.ts'
import type { DraftForm } from './draft-form.ts'
import { DurationSelect } from './duration-select.tsx'
import { PlannedTimeFields } from './planned-time-fields.tsx'

const delays = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
]

/** A scheduled broadcast keeps a planned time. */
export function ScheduleFields({ form, isScheduled }: { form: DraftForm; isScheduled: boolean }) {
  const { field, values } = form
  const { when } = values.schedule
  const isPlanned = when !== 'now'
  return (
    <Stack gap="md">
      <Radio.Group label="When" {...field('schedule.when')}>
        <Stack gap="xs" mt={6}>
          {!isScheduled && <Radio value="now" label="Now" description="When you start it." />}
          <Radio value="at" label="At a set time" description="At the same moment for everyone." />
          <Radio
            value="local"
            label="At the recipient’s local time"
            description="For example, at 9:00 a.m. for each recipient."
          />
        </Stack>
      </Radio.Group>
      {isPlanned && <PlannedTimeFields form={form} />}
      {when === 'local' && (
        <TextInput
          label="Attribute with the time zone"
          description="Contacts without a valid zone in it, such as Europe/Vienna, get the email at the time above."
          {...field('schedule.time_zone_attribute')}
        />
      )}
      <WindowFields form={form} />
      <NumberInput
        label="Maximum emails per hour"
        description="Leave empty to send as fast as the mail server accepts."
        placeholder="No limit"
        min={1}
        allowDecimal={false}
        thousandSeparator=","
        maw={320}
        {...field('messages_per_hour')}
      />
      {isPlanned && (
        <DurationSelect
          label="Expire if it can’t start within"
          description="A broadcast that is late by more than this, for example after an outage or a restored backup, expires and sends nothing."
          durations={delays}
          {...field('missed_after_seconds')}
        />
      )}
    </Stack>
  )
}

function WindowFields({ form: { field, values } }: { form: DraftForm }) {
  const { when, time_zone: zone, has_window: hasWindow } = values.schedule
  const { error: daysError, ...days } = field('schedule.window.days')
  return (
    <Stack gap="xs">
      <Checkbox label="Only on certain days and hours" {...field('schedule.has_window', { type: 'checkbox' })} />
      {hasWindow && (
        <Fieldset legend="Sending hours">
          <Chip.Group multiple {...days}>
            <Group gap={6}>
              {weekdays.map(({ value, label }) => (
                <Chip key={value} value={value} size="sm">
                  {label}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
          {daysError && (
            <Text size="xs" c="var(--bad-text)" mt={4}>
              {daysError}
            </Text>
          )}
          <Group gap="sm" mt="sm" align="flex-start">
            <TextInput label="From" type="time" {...field('schedule.window.from')} />
            <TextInput label="To" type="time" {...field('schedule.window.to')} />
          </Group>
          <Text size="xs" c="dimmed" mt="xs">
            In {when === 'local' ? 'the time zone of each recipient' : zone.replaceAll('_', ' ')}. Outside these hours,
            the broadcast waits.
          </Text>
        </Fieldset>
      )}
    </Stack>
  )
}
