import { useSyncExternalStore } from 'react'

// The search is loaded when it is first opened. Until then the request to open it is stored here.
let requests = 0
const listeners = new Set<() => void>()

export function openSearch(): void {
  requests++
  for (const listener of listeners) listener()
}

/** Returns how often the search was opened. 0 means that it need not be loaded. */
export function useSearchRequests(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => requests,
  )
}
