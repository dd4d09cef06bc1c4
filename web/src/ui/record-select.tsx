import { type ComboboxItem, type ComboboxItemGroup, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

const typingPauseMs = 250

type RecordWithName = { id: string; name: string }
// biome-ignore lint/suspicious/noExplicitAny: the key of a query says nothing about its result.
type Query<Data> = UseQueryOptions<Data, Error, Data, any>

type Props<Found extends RecordWithName, Chosen extends RecordWithName> = Omit<
  SelectProps,
  'data' | 'value' | 'filter' | 'nothingFoundMessage'
> & {
  /** What is searched, such as “flows”. */
  plural: string
  value: string | null
  /** Finds the records for a text, or those to offer first for an empty text. */
  search: (text: string) => Query<Found[]>
  /** Finds the chosen record, whose name is shown although no search has found it. */
  find: (id: string) => Query<Chosen>
  groupOf?: (record: Found) => string
}

/** A select whose options are searched by the server, however many there are. The chosen record is always one of them. */
export function RecordSelect<Found extends RecordWithName, Chosen extends RecordWithName>(props: Props<Found, Chosen>) {
  const { plural, value, search, find, groupOf, ...select } = props
  const [typed, setTyped] = useState('')
  const chosen = useQuery({ ...find(value ?? ''), enabled: Boolean(value) })
  const name = chosen.data?.name ?? (chosen.isError ? `Deleted (${value})` : 'Loading…')
  // The name of the chosen record is not a search.
  const [text] = useDebouncedValue(typed === name ? '' : typed.trim(), typingPauseMs)
  const found = useQuery(search(text))
  const records = found.data ?? []
  const isFound = !value || records.some(({ id }) => id === value)
  return (
    <Select
      searchable
      // The server has searched, also in what the name does not contain.
      filter={({ options }) => (text === '' || isFound ? options : options.slice(1))}
      nothingFoundMessage={found.isFetching ? 'Searching…' : `No ${plural} found`}
      data={[...(isFound ? [] : [{ value: value as string, label: name }]), ...optionsOf(records, groupOf)]}
      value={value || null}
      onSearchChange={setTyped}
      {...select}
    />
  )
}

function optionsOf<Found extends RecordWithName>(
  records: Found[],
  groupOf: ((record: Found) => string) | undefined,
): (ComboboxItem | ComboboxItemGroup<ComboboxItem>)[] {
  const options = (some: Found[]) => some.map(({ id, name }) => ({ value: id, label: name }))
  if (!groupOf) return options(records)
  return [...new Set(records.map(groupOf))].map((group) => ({
    group,
    items: options(records.filter((record) => groupOf(record) === group)),
  }))
}
