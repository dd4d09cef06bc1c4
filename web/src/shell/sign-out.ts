import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { paths } from '../paths.ts'
import { endSession } from '../session/session.ts'

/** Forgets the session and everything that was read with it. */
export function useSignOut(): () => void {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return () => {
    endSession()
    queries.clear()
    void navigate(paths.login)
  }
}
