import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Overview } from '../api/types.ts'

const freshEveryMs = 15_000

export type Range = { start_date: string; end_date: string }

export const overviewQuery = (range: Range, timezone: string) =>
  queryOptions({
    queryKey: ['overview', range, timezone],
    queryFn: () => api.get<Overview>('organization/overview', { ...range, timezone }),
    placeholderData: keepPreviousData,
    refetchInterval: freshEveryMs,
  })
