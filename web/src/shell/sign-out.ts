import { useNavigate } from 'react-router'
import { paths } from '../paths.ts'
import { endSession } from '../session/session.ts'

/** Ends the session and opens the sign-in page. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  return () => {
    endSession()
    void navigate(paths.login)
  }
}
