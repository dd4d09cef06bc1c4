import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { AuthState, Checklist, InvitationInfo, Me, Signed } from '../api/types.ts'

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => api.get<Me>('me'),
  staleTime: 60_000,
})
export const useMe = () => useQuery(meQuery)

export const authStateQuery = queryOptions({
  queryKey: ['auth-state'],
  queryFn: () => api.get<AuthState>('auth/state'),
})

export const checklistQuery = queryOptions({
  queryKey: ['checklist'],
  queryFn: () => api.get<Checklist>('organization/checklist'),
})

export const register = (input: { organization_name: string; email: string; password: string }) =>
  api.post<Signed>('auth/register', input)
export const login = (input: { email: string; password: string }) => api.post<Signed>('auth/login', input)
export const findInvitation = (token: string) =>
  api.get<InvitationInfo>(`auth/invitations/${encodeURIComponent(token)}`)
export const acceptInvitation = (input: { token: string; email?: string; password: string }) =>
  api.post<Signed>('auth/accept-invitation', input)
