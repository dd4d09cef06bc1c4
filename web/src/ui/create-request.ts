import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

/** The state of a navigation that asks the page to open its dialog for a new record. */
export const createRequest = { create: true }

const isCreateRequest = (state: unknown) =>
  typeof state === 'object' && state !== null && 'create' in state && state.create === true

/** Calls `open` if the page was opened in order to create something, also if it was open already. */
export function useCreateRequest(open: () => void): void {
  const { key, state } = useLocation()
  const handled = useRef<string>(undefined)
  useEffect(() => {
    // A reload restores the state, with the key of the navigation.
    if (!isCreateRequest(state) || handled.current === key) return
    handled.current = key
    window.history.replaceState({ ...window.history.state, usr: null }, '')
    open()
  }, [key, state, open])
}
