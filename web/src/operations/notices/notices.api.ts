import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

const refetchMs = 30_000

export const openNoticesQuery = queryOptions({
  queryKey: keys.noticeList('open'),
  queryFn: () => dataOf(api.GET('/api/v1/organization/notices', { params: { query: { state: 'open' } } })),
  refetchInterval: refetchMs,
})
export const noticesQuery = queryOptions({
  queryKey: keys.noticeList('all'),
  queryFn: () => dataOf(api.GET('/api/v1/organization/notices')),
})
export const dismissNotice = (id: string) =>
  ensureSuccess(api.POST('/api/v1/organization/notices/{id}/dismiss', { params: { path: { id } } }))
