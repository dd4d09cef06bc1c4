import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type {
  ApiKey,
  Invitation,
  Member,
  NewInvitation,
  Organization,
  Role,
  Scope,
  Sending,
  Suppression,
  SuppressionReason,
} from '../api/types.ts'

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => api.get<ApiKey[]>('organization/api-keys'),
})
export const createApiKey = (input: { name: string; scopes: Scope[] }) =>
  api.post<ApiKey & { api_key: string }>('organization/api-keys', input)
export const revokeApiKey = (id: string) => api.remove(`organization/api-keys/${id}`)

export const useSuppressions = (filter: { query: string; reason: SuppressionReason | '' }) =>
  usePages<Suppression>(['suppressions'], 'organization/suppressions', filter)
export const addSuppression = (email: string) => api.post<Suppression>('organization/suppressions', { email })
export const liftSuppression = (email: string) => api.remove(`organization/suppressions/${encodeURIComponent(email)}`)

export const sendingQuery = queryOptions({
  queryKey: ['sending'],
  queryFn: () => api.get<Sending>('organization/sending'),
})
export const checkSending = () => api.post<Sending>('organization/sending/check')

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: () => api.get<Member[]>('organization/members'),
})
export const changeMember = (id: string, role: Role) => api.patch<Member>(`organization/members/${id}`, { role })
export const removeMember = (id: string) => api.remove(`organization/members/${id}`)

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: () => api.get<Invitation[]>('organization/invitations'),
})
export const invite = (input: { email: string; role: Role }) =>
  api.post<NewInvitation>('organization/invitations', input)
export const withdrawInvitation = (id: string) => api.remove(`organization/invitations/${id}`)

export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: () => api.get<Organization>('organization'),
})
export const changeOrganization = (input: Partial<Organization>) => api.patch<Organization>('organization', input)
