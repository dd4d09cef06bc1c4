import { useNavigate } from 'react-router'
import { basePath } from '../api/base.ts'
import { paths } from '../paths.ts'
import { endSession, getSession } from '../session/session.ts'

/** Ends the session, here and on the server, and opens the sign-in page. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  return () => {
    revoke(getSession()?.token)
    endSession()
    void navigate(paths.login)
  }
}

/** In the background: the user is signed out in this browser even if the server can’t be reached. */
function revoke(token: string | undefined): void {
  if (!token) return
  const headers = { authorization: `Bearer ${token}` }
  fetch(`${basePath}api/v1/me/sign-out`, { method: 'POST', headers, keepalive: true }).catch(() => {})
}
