import { useNavigate } from 'react-router'
import { signOutEverywhere } from '../accounts/session/session.api.ts'
import { endSession, getSession } from '../accounts/session/session.ts'
import { basePath } from '../api/base.ts'
import { paths } from '../paths.ts'
import type { Question } from '../ui/confirm.tsx'

/** Ends the session, here and on the server, and opens the sign-in page. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  return () => {
    revoke(getSession()?.token)
    endSession()
    void navigate(paths.login)
  }
}

/** The question before all sessions of the user are ended. */
export function useSignOutEverywhere(): Question {
  const signOut = useSignOut()
  return {
    title: 'Sign out everywhere',
    action: 'Sign out everywhere',
    children: 'You will be signed out on all devices, including this one. API keys keep working.',
    run: async () => {
      await signOutEverywhere()
      signOut()
    },
  }
}

/** In the background: the user is signed out in this browser even if the server can’t be reached. */
function revoke(token: string | undefined): void {
  if (!token) return
  const headers = { authorization: `Bearer ${token}` }
  fetch(`${basePath}api/v1/me/sign-out`, { method: 'POST', headers, keepalive: true }).catch(() => {})
}
