import { Select, type SelectProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './filters.module.css'

/** The row above a list. On a phone the search has its own line, followed by two filters per line. */
export function Filters({ children }: { children: ReactNode }) {
  return <div className={classes.filters}>{children}</div>
}

type Props = Omit<SelectProps, 'label' | 'value' | 'multiple'> & {
  label: string
  /** Empty for no filter. */
  value: string
  onChange: (value: string | null) => void
}

export function FilterSelect({ label, value, ...props }: Props) {
  return <Select aria-label={label} clearable value={value || null} {...props} />
}

/** The options of a select for records. */
export const optionsOf = (records: { id: string; name: string }[] | undefined) =>
  records?.map(({ id, name }) => ({ value: id, label: name })) ?? []
