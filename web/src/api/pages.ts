import { keepPreviousData, type UseQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Page } from './client.ts'

const liveRefetchMs = 3_000
/** The page size of the API. */
const pageRows = 50

export type Pages<T> = {
  data: T[] | undefined
  error: unknown
  isFetching: boolean
  /** Whether `data` still belongs to the previous filter. */
  isPlaceholderData: boolean
  refetch: () => unknown
  hasMore: boolean
  loadMore: () => unknown
  loadingMore: boolean
  /** Whether the list updates automatically. False after a failed request, until one succeeds again. */
  live: boolean
}

type Options = { live?: boolean }
/** Empty for the first page. */
export type PageParams = { cursor?: string }

/** A list with cursor pagination. A live list is refetched while only its first page is shown. */
export function usePages<T>(
  key: readonly unknown[],
  fetchPage: (from: PageParams, signal: AbortSignal) => Promise<Page<T>>,
  options: Options = {},
): Pages<T> {
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: {} as PageParams,
    getNextPageParam: (page: Page<T>): PageParams | null =>
      page.nextCursor === null ? null : { cursor: page.nextCursor },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (options.live && (query.state.data?.pages.length ?? 1) === 1 ? liveRefetchMs : false),
  })
  return {
    data: list.data?.pages.flatMap((page) => page.items),
    error: list.error,
    isFetching: list.isFetching,
    isPlaceholderData: list.isPlaceholderData,
    refetch: list.refetch,
    hasMore: list.hasNextPage,
    loadMore: list.fetchNextPage,
    loadingMore: list.isFetchingNextPage,
    live: (options.live ?? false) && (list.data?.pages.length ?? 1) === 1 && list.failureReason === null,
  }
}

/** Paginates a list that the API returns completely, because rendering a thousand rows takes seconds. */
export function useLocalPages<T>(whole: UseQueryResult<T[]>, matches: (item: T) => boolean): Pages<T> {
  const [rowsMax, setRowsMax] = useState(pageRows)
  const found = whole.data?.filter(matches)
  return {
    data: found?.slice(0, rowsMax),
    error: whole.error,
    isFetching: whole.isFetching,
    isPlaceholderData: false,
    refetch: whole.refetch,
    hasMore: (found?.length ?? 0) > rowsMax,
    loadMore: () => setRowsMax(rowsMax + pageRows),
    loadingMore: false,
    live: false,
  }
}
