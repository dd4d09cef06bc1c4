import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { OrganizationInput, Role, Scope, Suppression, SuppressionReason } from '../../api/types.ts'

const apiKeysRefetchMs = 10_000

// The search also finds addresses that contain this one.
const reasonsMax = 100
const searchMax = 200

const at = (id: string) => ({ params: { path: { id } } })

export const apiKeysQuery = queryOptions({
  queryKey: keys.apiKeys,
  queryFn: () => dataOf(api.GET('/api/v1/organization/api-keys')),
  // For the time of last use.
  refetchInterval: apiKeysRefetchMs,
})
export const createApiKey = (body: { name: string; scopes: Scope[] }) =>
  dataOf(api.POST('/api/v1/organization/api-keys', { body }))
export const revokeApiKey = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/api-keys/{id}', at(id)))

export const useSuppressions = (filter: { query: string; reason: SuppressionReason | '' }) =>
  usePages<Suppression>(keys.suppressionList(filter), (from, signal) =>
    pageOf(
      api.GET('/api/v1/organization/suppressions', { params: { query: { ...omitEmpty(filter), ...from } }, signal }),
    ),
  )
/** All reasons for the suppression of one address, independent of the filters of the list. */
export const reasonsQuery = (email: string) =>
  queryOptions({
    queryKey: keys.suppressionReasons(email),
    queryFn: async () => {
      const query = { query: email.slice(0, searchMax), limit: reasonsMax }
      const { items } = await pageOf(api.GET('/api/v1/organization/suppressions', { params: { query } }))
      const rows = items.filter((row) => row.email.toLowerCase() === email.toLowerCase())
      return rows.map((row) => row.reason)
    },
    // The confirmation must not show cached reasons.
    staleTime: 0,
    gcTime: 0,
  })
export const suppressList = (list: string) =>
  dataOf(api.POST('/api/v1/organization/suppressions/list', { body: { list } }))
export const removeSuppression = (email: string) =>
  ensureSuccess(api.DELETE('/api/v1/organization/suppressions/{email}', { params: { path: { email } } }))

export const sendingQuery = queryOptions({
  queryKey: keys.sending,
  queryFn: () => dataOf(api.GET('/api/v1/organization/sending')),
})
export const setupQuery = queryOptions({
  queryKey: keys.setup,
  queryFn: () => dataOf(api.GET('/api/v1/organization/sending/setup')),
})
export const changeBaseUrl = (url: string | null) =>
  dataOf(api.PATCH('/api/v1/organization/sending/setup', { body: { base_url: url } }))
export const checkSending = () => dataOf(api.POST('/api/v1/organization/sending/check'))
export const sendFirstEmail = (from: string | null) =>
  dataOf(api.POST('/api/v1/organization/sending/first-email', { body: from ? { from } : {} }))

export const membersQuery = queryOptions({
  queryKey: keys.members,
  queryFn: () => dataOf(api.GET('/api/v1/organization/members')),
})
export type MemberChanges = { role?: Role; can_start_broadcasts?: boolean }
export const changeMember = (id: string, body: MemberChanges) =>
  dataOf(api.PATCH('/api/v1/organization/members/{id}', { ...at(id), body }))
type Removal = { revokeApiKeys: boolean; pauseWebhooks: boolean }
export const removeMember = (id: string, removal: Removal = { revokeApiKeys: false, pauseWebhooks: false }) =>
  ensureSuccess(
    api.DELETE('/api/v1/organization/members/{id}', {
      params: {
        path: { id },
        query: {
          revoke_api_keys: removal.revokeApiKeys,
          pause_webhooks: removal.pauseWebhooks,
        },
      },
    }),
  )

export const invitationsQuery = queryOptions({
  queryKey: keys.invitations,
  queryFn: () => dataOf(api.GET('/api/v1/organization/invitations')),
})
export const invite = (body: { email?: string; role: Role }) =>
  dataOf(api.POST('/api/v1/organization/invitations', { body }))
export const resendInvitation = (id: string) => dataOf(api.POST('/api/v1/organization/invitations/{id}/resend', at(id)))
export const revokeInvitation = (id: string) =>
  ensureSuccess(api.DELETE('/api/v1/organization/invitations/{id}', at(id)))

export const organizationQuery = queryOptions({
  queryKey: keys.organization,
  queryFn: () => dataOf(api.GET('/api/v1/organization')),
})
export const deleteOrganization = (body: { name: string; password: string }) =>
  ensureSuccess(api.DELETE('/api/v1/organization', { body }))
export const changeOrganization = (body: OrganizationInput) => dataOf(api.PATCH('/api/v1/organization', { body }))
