import { useSyncExternalStore } from 'react'

// The search is loaded when it is first asked for; until then this remembers that somebody asked.
let wanted = 0
const listeners = new Set<() => void>()

export function openSearch(): void {
  wanted++
  for (const listener of listeners) listener()
}

/** Counts how often the search was asked for: 0 means it need not be loaded. */
export function useSearchWanted(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => wanted,
  )
}
