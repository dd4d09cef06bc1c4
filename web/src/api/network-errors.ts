import { ApiError } from './api-error.ts'

export const unreachableError = () =>
  new ApiError(0, {
    message: navigator.onLine
      ? 'Waxwing can’t be reached. Check that it is running, then try again.'
      : 'You’re offline. Check your internet connection, then try again.',
  })

/** For example an error page of a proxy with status 200. */
export const unreadableError = () =>
  new ApiError(0, { message: 'Received an unexpected response, possibly from a proxy. Try again in a moment.' })
