import { useSearchParams } from 'react-router'

type Filters<Name extends string> = {
  filter: Record<Name, string>
  /** Empty or null removes the filter. */
  set: (name: Name, value: string | null) => void
  /** The props of an input for one filter. */
  field: (name: Name) => { value: string; onChange: (value: string | null) => void }
  /** Whether any filter is set. */
  filtered: boolean
}

/** Filters in the query string, so that a reload, the back button and shared links keep them. */
export function useFilters<Name extends string>(...names: Name[]): Filters<Name> {
  const [search, setSearch] = useSearchParams()
  const filter = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Record<Name, string>
  const set = (name: Name, value: string | null) =>
    setSearch(
      (now) => {
        if (value) now.set(name, value)
        else now.delete(name)
        return now
      },
      { replace: true },
    )
  return {
    filter,
    set,
    field: (name) => ({ value: filter[name], onChange: (value) => set(name, value) }),
    filtered: Object.values(filter).some(Boolean),
  }
}
