import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

/** While a domain waits for its records, which are looked up every minute. */
const pendingRefetchMs = 15_000

const at = (id: string) => ({ params: { path: { id } } })

export const domainsQuery = queryOptions({
  queryKey: keys.domains,
  queryFn: () => dataOf(api.GET('/api/v1/organization/domains')),
})
export const domainQuery = (id: string) =>
  queryOptions({
    queryKey: keys.domain(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/domains/{id}', at(id))),
    refetchInterval: ({ state }) => (state.data?.status === 'verified' ? false : pendingRefetchMs),
  })
export const addDomain = (name: string) => dataOf(api.POST('/api/v1/organization/domains', { body: { name } }))
export const changeHosts = (id: string, body: { tracking_label?: string; return_path_label?: string }) =>
  dataOf(api.PATCH('/api/v1/organization/domains/{id}', { ...at(id), body }))
export const verifyDomain = (id: string) => dataOf(api.POST('/api/v1/organization/domains/{id}/verify', at(id)))
export const rotateDomainKey = (id: string) => dataOf(api.POST('/api/v1/organization/domains/{id}/rotate-key', at(id)))
export const deleteDomain = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/domains/{id}', at(id)))
export const warmUpQuery = (id: string) =>
  queryOptions({
    queryKey: keys.domainWarmUp(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/domains/{id}/warm-up', at(id))),
  })
export const setWarmUp = (id: string, plan: number[]) =>
  dataOf(api.PUT('/api/v1/organization/domains/{id}/warm-up', { ...at(id), body: { plan } }))
export const endWarmUp = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/domains/{id}/warm-up', at(id)))
