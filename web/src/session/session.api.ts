import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../api/client.ts'
import { keys } from '../api/keys.ts'

const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: () => dataOf(api.GET('/api/v1/me')),
  staleTime: 60_000,
})
export const useMe = () => useQuery(meQuery)

export const authStateQuery = queryOptions({
  queryKey: keys.authState,
  queryFn: () => dataOf(api.GET('/api/v1/auth/state')),
})

export const checklistQuery = queryOptions({
  queryKey: keys.checklist,
  queryFn: () => dataOf(api.GET('/api/v1/organization/checklist')),
})

export const register = (body: { organization_name: string; email: string; password: string }) =>
  dataOf(api.POST('/api/v1/auth/register', { body }))
export const login = (body: { email: string; password: string }) => dataOf(api.POST('/api/v1/auth/login', { body }))
export const findInvitation = (token: string) =>
  dataOf(api.GET('/api/v1/auth/invitations/{token}', { params: { path: { token } } }))
export const acceptInvitation = (body: { token: string; email?: string; password: string }) =>
  dataOf(api.POST('/api/v1/auth/accept-invitation', { body }))
export const signOutEverywhere = () => ensureSuccess(api.POST('/api/v1/me/sign-out-everywhere'))
export const changePassword = (body: { current_password: string; new_password: string }) =>
  dataOf(api.POST('/api/v1/me/password', { body }))
