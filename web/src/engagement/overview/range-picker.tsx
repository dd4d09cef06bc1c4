import { Button, Group, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Range } from './overview.api.ts'
import { problemOf, rangeOf, type Span, spanDays, today } from './range.ts'

const spans = [
  ...spanDays.map((days) => ({ value: String(days), label: `${days} days` })),
  { value: 'custom', label: 'Custom' },
]

const openingKeys = [' ', 'Enter']
const isCustom = (target: EventTarget) => target instanceof HTMLInputElement && target.value === 'custom'

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
          // Clicking the selected option causes no change event, but should open the form again.
          onClick={(event) => {
            if (isCustom(event.target)) setOpened(true)
          }}
          // Keys cause no click event on a radio button. The form gets the focus, and with it Escape, shortly after it opens.
          onKeyDown={(event) => {
            if (event.key === 'Escape') setOpened(false)
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
            <Button type="submit">Apply</Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
