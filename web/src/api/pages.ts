import { keepPreviousData, type UseQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Page } from './client.ts'

const liveEveryMs = 3_000
/** As many as the service puts on a page. */
const pageRows = 50

export type Pages<T> = {
  data: T[] | undefined
  error: unknown
  isFetching: boolean
  /** Whether `data` is still the answer to another question, such as the search before. */
  isPlaceholderData: boolean
  refetch: () => unknown
  hasMore: boolean
  loadMore: () => unknown
  loadingMore: boolean
  /** Whether the list is updating on its own: not after a failed request, until one succeeds again. */
  live: boolean
}

type Options = { live?: boolean }
/** Where a page begins: nothing for the first. */
export type From = { cursor?: string }

/** A list that the service pages by cursor. A live one is asked again while only its first page is shown. */
export function usePages<T>(
  key: readonly unknown[],
  ask: (from: From, signal: AbortSignal) => Promise<Page<T>>,
  options: Options = {},
): Pages<T> {
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => ask(pageParam, signal),
    initialPageParam: {} as From,
    getNextPageParam: (page: Page<T>): From | null => (page.nextCursor === null ? null : { cursor: page.nextCursor }),
    placeholderData: keepPreviousData,
    refetchInterval: (asked) => (options.live && (asked.state.data?.pages.length ?? 1) === 1 ? liveEveryMs : false),
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

/** A list that the service gives whole, shown a page at a time: a thousand rows take a browser seconds to draw. */
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
