import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { api, ensureSuccess } from '../api/client.ts'

/** The errors of scripts that could not be loaded, with the navigation on which each was seen first. */
const visits = new WeakMap<Error, string | undefined>()

/** Uses the event of Vite, because the error messages differ between browsers. */
export function trackLoadErrors(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => visits.set(payload, undefined))
}

export const isLoadError = (error: unknown): error is Error => error instanceof Error && visits.has(error)

/**
 * Router and browser cache a failed import, so the app has to be reloaded. It waits until the server responds, to avoid the
 * error page of the browser. Visiting the page again and reconnecting to the network also try it.
 */
export function useReload(error: Error) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => ensureSuccess(api.GET('/api/v1/auth/state')),
    onSuccess: () => window.location.reload(),
  })
  const visit = useLocation().key
  useEffect(() => {
    const first = visits.get(error) ?? visit
    visits.set(error, first)
    if (first !== visit) mutate()
  }, [error, visit, mutate])
  useEffect(() => {
    const reconnect = () => mutate()
    window.addEventListener('online', reconnect)
    return () => window.removeEventListener('online', reconnect)
  }, [mutate])
  return { reload: () => mutate(), reloading: isPending }
}
