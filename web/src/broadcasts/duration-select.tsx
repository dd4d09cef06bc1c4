import { Select, type SelectProps } from '@mantine/core'

/** In seconds, as text. */
type Duration = { value: string; label: string }

type Props = Omit<SelectProps, 'data' | 'value'> & { durations: Duration[]; value?: string }

/** A value that was set through the API stays selectable. */
export function DurationSelect({ durations, value = '', ...props }: Props) {
  const isListed = durations.some((duration) => duration.value === value)
  return (
    <Select
      data={isListed ? durations : [...durations, { value, label: `${value} seconds` }]}
      allowDeselect={false}
      maw={320}
      value={value}
      {...props}
    />
  )
}
