import { Select, type SelectProps } from '@mantine/core'

/** In seconds, as text. */
type Duration = { value: string; label: string }

type Props = Pick<SelectProps, 'label' | 'description' | 'error'> & {
  durations: Duration[]
  value: string
  onChange: (value: string) => void
}

/** A value that was set through the API stays selectable. */
export function DurationSelect({ durations, value, onChange, ...field }: Props) {
  const isListed = durations.some((duration) => duration.value === value)
  return (
    <Select
      {...field}
      data={isListed ? durations : [...durations, { value, label: `${value} seconds` }]}
      allowDeselect={false}
      maw={320}
      value={value}
      onChange={(chosen) => chosen && onChange(chosen)}
    />
  )
}
