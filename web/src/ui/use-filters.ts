import { useSearchParams } from 'react-router'

type Filters<Name extends string> = {
  filter: Record<Name, string>
  /** Empty or null takes the filter away. */
  set: (name: Name, value: string | null) => void
  /** Whether anything is filtered at all. */
  filtered: boolean
}

/** Filters that stand in the page's address: a reload, the back button and a link that is sent on keep them. */
export function useFilters<Name extends string>(...names: Name[]): Filters<Name> {
  const [search, setSearch] = useSearchParams()
  const filter = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Record<Name, string>
  return {
    filter,
    set: (name, value) =>
      setSearch(
        (now) => {
          if (value) now.set(name, value)
          else now.delete(name)
          return now
        },
        { replace: true },
      ),
    filtered: Object.values(filter).some(Boolean),
  }
}
