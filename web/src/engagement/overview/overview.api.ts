import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

const refetchMs = 15_000

export type Range = { start_date: string; end_date: string }

export const overviewQuery = (range: Range, timezone: string) =>
  queryOptions({
    queryKey: keys.overview(range, timezone),
    queryFn: () => dataOf(api.GET('/api/v1/organization/overview', { params: { query: { ...range, timezone } } })),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
  })
