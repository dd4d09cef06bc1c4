import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { api, type Page, type Query } from './client.ts'

const liveEveryMs = 3_000

export type Pages<T> = {
  data: T[] | undefined
  error: unknown
  isFetching: boolean
  refetch: () => unknown
  hasMore: boolean
  loadMore: () => unknown
  loadingMore: boolean
  /** Whether the list renews itself now. */
  live: boolean
}

type Options = { live?: boolean; enabled?: boolean }

/** A list that the service pages by cursor. A live one is asked again while only its first page is shown. */
export function usePages<T>(key: readonly unknown[], path: string, query: Query, options: Options = {}): Pages<T> {
  const list = useInfiniteQuery({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) => api.page<T>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page<T>) => page.nextCursor,
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    refetchInterval: (asked) => (options.live && (asked.state.data?.pages.length ?? 1) === 1 ? liveEveryMs : false),
  })
  return {
    data: list.data?.pages.flatMap((page) => page.items),
    error: list.error,
    isFetching: list.isFetching,
    refetch: list.refetch,
    hasMore: list.hasNextPage,
    loadMore: list.fetchNextPage,
    loadingMore: list.isFetchingNextPage,
    live: (options.live ?? false) && (list.data?.pages.length ?? 1) === 1,
  }
}
