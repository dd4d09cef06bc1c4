import { useSyncExternalStore } from 'react'

// The account menu and the command palette open the same dialog.
let opened = false
const listeners = new Set<() => void>()

export function setPasswordDialog(next: boolean): void {
  opened = next
  for (const listener of listeners) listener()
}

export function usePasswordDialog(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => opened,
  )
}
