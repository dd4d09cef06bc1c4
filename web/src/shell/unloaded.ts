import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { api, done } from '../api/client.ts'

/** The errors of parts of the app that could not be fetched, and the visit on which each was seen first. */
const visits = new WeakMap<Error, string | undefined>()

/** The builder's own word for it: each browser has other ones. */
export function noteUnloaded(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => visits.set(payload, undefined))
}

export const isUnloaded = (error: unknown): error is Error => error instanceof Error && visits.has(error)

/**
 * Router and browser keep a failed part for as long as the app runs, so it is started anew, but not before the service
 * answers: until then the app is worth more than the browser's own error. Visiting the page again and reconnecting to the network also try it.
 */
export function useReload(error: Error) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => done(api.GET('/api/v1/auth/state')),
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
