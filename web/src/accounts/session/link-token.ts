import { useEffect, useState } from 'react'

/**
 * Returns the token in the fragment of the link that opened the page, and removes it from the address bar and the
 * history. Fragments are not sent to servers, so the token is in no access log.
 */
export function useLinkToken(): string {
  const [token] = useState(() => window.location.hash.slice(1))
  useEffect(() => {
    if (window.location.hash !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [])
  return token
}
