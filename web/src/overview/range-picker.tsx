import { Button, Group, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Range } from './overview.api.ts'
import { daysOf, lastDays, today } from './range.ts'

const daysMax = 731
const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'custom', label: 'Custom' },
]

const openingKeys = [' ', 'Enter']
const isCustom = (target: EventTarget) => target instanceof HTMLInputElement && target.value === 'custom'

export type Span = { days: number } | Range

export const rangeOf = (span: Span, timezone: string): Range => ('days' in span ? lastDays(span.days, timezone) : span)

type Props = { span: Span; setSpan: (span: Span) => void; timezone: string }

export function RangePicker({ span, setSpan, timezone }: Props) {
  const [opened, setOpened] = useState(false)
  const [custom, setCustom] = useState<Range>(() => rangeOf(span, timezone))
  const problem = problemOf(custom)
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" trapFocus withArrow>
      <Popover.Target>
        <SegmentedControl
          aria-label="Range"
          data={spans}
          value={'days' in span ? String(span.days) : 'custom'}
          onChange={(value) => {
            if (value !== 'custom') setSpan({ days: Number(value) })
            setOpened(value === 'custom')
          }}
          // A choice that is made already does not change when it is pressed again, but asks for other days.
          onClick={(event) => {
            if (isCustom(event.target)) setOpened(true)
          }}
          // A browser makes no click of a key on it.
          onKeyDown={(event) => {
            if (!isCustom(event.target) || !openingKeys.includes(event.key)) return
            event.preventDefault()
            setOpened(true)
          }}
        />
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (problem) return
            setSpan(custom)
            setOpened(false)
          }}
        >
          <Stack gap="sm">
            <Group gap="sm" align="flex-start">
              <TextInput
                label="From"
                type="date"
                required
                max={today(timezone)}
                value={custom.start_date}
                onChange={(event) => setCustom({ ...custom, start_date: event.currentTarget.value })}
              />
              <TextInput
                label="To"
                type="date"
                required
                max={today(timezone)}
                value={custom.end_date}
                onChange={(event) => setCustom({ ...custom, end_date: event.currentTarget.value })}
                error={problem}
              />
            </Group>
            <Button type="submit">Show</Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

function problemOf(range: Range): string | undefined {
  if (!range.start_date || !range.end_date) return 'Choose both days.'
  const days = daysOf(range)
  if (days < 1) return 'It ends before it begins.'
  return days > daysMax ? 'At most two years.' : undefined
}
