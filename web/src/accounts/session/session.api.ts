import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { Permission, ProfileChange } from '../../api/types.ts'

export const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: () => dataOf(api.GET('/api/v1/me')),
  staleTime: 60_000,
})
export const useMe = () => useQuery(meQuery)

/** Whether the user may do something: what an operation of the API requires is its `x-permission`. False while it is loading. */
export function useMay(): (permission: Permission) => boolean {
  const granted = useMe().data?.permissions
  return (permission) => granted?.includes(permission) ?? false
}

export const authStateQuery = queryOptions({
  queryKey: keys.authState,
  queryFn: () => dataOf(api.GET('/api/v1/auth/state')),
})

export const checklistQuery = queryOptions({
  queryKey: keys.checklist,
  queryFn: () => dataOf(api.GET('/api/v1/organization/checklist')),
})

type Registration = { organization_name: string; email: string; password: string; timezone: string }
export const register = (body: Registration) => dataOf(api.POST('/api/v1/auth/register', { body }))
export const login = (body: { email: string; password: string }) => dataOf(api.POST('/api/v1/auth/login', { body }))
export const findInvitation = (token: string) =>
  dataOf(api.GET('/api/v1/auth/invitations/{token}', { params: { path: { token } } }))
type Acceptance = { token: string; email?: string; name?: string; password: string; existing_account?: boolean }
export const acceptInvitation = (body: Acceptance) => dataOf(api.POST('/api/v1/auth/accept-invitation', { body }))

export const requestPasswordReset = (email: string) =>
  ensureSuccess(api.POST('/api/v1/auth/forgot-password', { body: { email } }))
export const findPasswordReset = (token: string) =>
  dataOf(api.POST('/api/v1/auth/check-password-reset', { body: { token } }))
export const resetPassword = (body: { token: string; password: string }) =>
  dataOf(api.POST('/api/v1/auth/reset-password', { body }))
export const findEmailChange = (token: string) =>
  dataOf(api.POST('/api/v1/auth/check-email-change', { body: { token } }))
export const confirmEmailChange = (token: string) =>
  dataOf(api.POST('/api/v1/auth/confirm-email-change', { body: { token } }))

export const changeProfile = (body: ProfileChange) => dataOf(api.PATCH('/api/v1/me', { body }))
export const changeEmail = (body: { email: string; current_password: string }) =>
  dataOf(api.POST('/api/v1/me/email', { body }))
export const cancelEmailChange = () => ensureSuccess(api.DELETE('/api/v1/me/email'))

export const sessionsQuery = queryOptions({
  queryKey: keys.sessions,
  queryFn: () => dataOf(api.GET('/api/v1/me/sessions')),
})
export const endOtherSession = (id: string) =>
  ensureSuccess(api.DELETE('/api/v1/me/sessions/{id}', { params: { path: { id } } }))
export const signOutEverywhere = () => ensureSuccess(api.POST('/api/v1/me/sign-out-everywhere'))
export const changePassword = (body: { current_password: string; new_password: string }) =>
  dataOf(api.POST('/api/v1/me/password', { body }))
