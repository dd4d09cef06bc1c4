import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { ApiRequest, ApiRequestStatus } from '../../api/types.ts'

export type ApiRequestFilter = { api_key_id: string; status: ApiRequestStatus | ''; search: string }

/** `search` is a request ID or part of a path. */
export const useApiRequests = (filter: ApiRequestFilter) =>
  usePages<ApiRequest>(
    keys.apiRequestList(filter),
    (from, signal) => {
      const { search, ...rest } = filter
      const found = /^req_/.test(search) ? { request_id: search } : { path: search }
      const query = { ...omitEmpty({ ...rest, ...found }), ...from }
      return pageOf(api.GET('/api/v1/organization/api-requests', { params: { query }, signal }))
    },
    { live: true },
  )

export const apiRequestQuery = (id: string) =>
  queryOptions({
    queryKey: keys.apiRequest(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/api-requests/{id}', { params: { path: { id } } })),
  })
