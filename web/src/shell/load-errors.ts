import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { api, ensureSuccess } from '../api/client.ts'
import { isServerUp, recoveryMs } from './recovery.ts'

/** The errors of scripts that could not be loaded, with the navigation on which each was seen first. */
const visits = new WeakMap<Error, string | undefined>()

/** Uses the event of Vite, because the error messages differ between browsers. */
export function trackLoadErrors(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => visits.set(payload, undefined))
}

export const isLoadError = (error: unknown): error is Error => error instanceof Error && visits.has(error)

/**
 * Router and browser cache a failed import, so the app has to be reloaded. It is reloaded as soon as the server responds,
 * which avoids the error page of the browser. Visiting the page again and reconnecting to the network try it at once.
 */
export function useReload(error: Error) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => ensureSuccess(api.GET('/api/v1/auth/state')),
    onSuccess: () => window.location.reload(),
  })
  useEffect(() => {
    const timer = setInterval(async () => {
      if (await isServerUp()) window.location.reload()
    }, recoveryMs)
    return () => clearInterval(timer)
  }, [])
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
