import type { Filter } from '../../api/types.ts'

/** Reads a filter from the address of a page. Returns undefined if it is not JSON; the API checks the rest. */
export function parseFilter(text: string): Filter | undefined {
  try {
    const filter = JSON.parse(text) as Filter | null
    return typeof filter === 'object' && filter !== null && 'type' in filter ? filter : undefined
  } catch {
    return undefined
  }
}
