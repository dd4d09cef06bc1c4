import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { MailServerChange, MailServerConnection, MailServerInput } from '../../api/types.ts'

/** The status changes when emails are sent. */
const refetchMs = 10_000
const at = (id: string) => ({ params: { path: { id } } })

export const mailServersQuery = queryOptions({
  queryKey: keys.mailServers,
  queryFn: () => dataOf(api.GET('/api/v1/organization/mail-servers')),
  refetchInterval: refetchMs,
})
export const mailServerQuery = (id: string) =>
  queryOptions({
    queryKey: keys.mailServer(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/mail-servers/{id}', at(id))),
    refetchInterval: refetchMs,
  })
export const presetsQuery = queryOptions({
  queryKey: keys.mailServerPresets,
  queryFn: () => dataOf(api.GET('/api/v1/organization/mail-server-presets')),
  staleTime: Number.POSITIVE_INFINITY,
})
export const addMailServer = (body: MailServerInput) => dataOf(api.POST('/api/v1/organization/mail-servers', { body }))
export const changeMailServer = (id: string, body: MailServerChange) =>
  dataOf(api.PATCH('/api/v1/organization/mail-servers/{id}', { ...at(id), body }))
export const deleteMailServer = (id: string) =>
  ensureSuccess(api.DELETE('/api/v1/organization/mail-servers/{id}', at(id)))
export const testMailServer = (id: string) => dataOf(api.POST('/api/v1/organization/mail-servers/{id}/test', at(id)))
export const testConnection = (body: MailServerConnection) =>
  dataOf(api.POST('/api/v1/organization/mail-servers/test', { body }))
