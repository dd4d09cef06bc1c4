import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf, type Page, pageOf } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { type PageParams, usePages } from '../../../api/pages.ts'
import type { Figure, FigureMessage, LinkClick } from '../../../api/types.ts'
import type { Range } from '../../../engagement/overview/overview.api.ts'

const refetchMs = 15_000
const exportPageRows = 100
/** A file of more rows takes minutes to collect. */
export const exportRowsMax = 10_000

export type Period = Range & { timezone: string }

export const flowResultsQuery = (id: string, { timezone, ...range }: Period) =>
  queryOptions({
    queryKey: keys.flowResults(id, range, timezone),
    queryFn: () =>
      dataOf(
        api.GET('/api/v1/organization/flows/{id}/results', {
          params: { path: { id }, query: { ...range, timezone } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
  })

export type ClickFilter = Period & { link: string; machine: 'true' | 'false' | '' }

const fetchClicks = (id: string, filter: ClickFilter, from: PageParams & { limit?: number }, signal?: AbortSignal) =>
  pageOf(
    api.GET('/api/v1/organization/flows/{id}/link-clicks', {
      params: { path: { id }, query: { ...withoutEmpty(filter), ...from } },
      ...(signal && { signal }),
    }),
  )
const withoutEmpty = ({ machine, ...filter }: ClickFilter) => ({
  ...filter,
  ...(machine && { machine: machine === 'true' }),
})

export const useLinkClicks = (id: string, filter: ClickFilter) =>
  usePages<LinkClick>(keys.linkClicks(id, filter), (from, signal) => fetchClicks(id, filter, from, signal))

export const allLinkClicks = (id: string, filter: ClickFilter) =>
  collect<LinkClick>((from) => fetchClicks(id, filter, { ...from, limit: exportPageRows }))

export type FigureFilter = Period & { figure: Figure }

const fetchFigure = (id: string, filter: FigureFilter, from: PageParams & { limit?: number }, signal?: AbortSignal) =>
  pageOf(
    api.GET('/api/v1/organization/flows/{id}/results/messages', {
      params: { path: { id }, query: { ...filter, ...from } },
      ...(signal && { signal }),
    }),
  )

export const useFigureMessages = (id: string, filter: FigureFilter) =>
  usePages<FigureMessage>(keys.figureMessages(id, filter), (from, signal) => fetchFigure(id, filter, from, signal))

export const allFigureMessages = (id: string, filter: FigureFilter) =>
  collect<FigureMessage>((from) => fetchFigure(id, filter, { ...from, limit: exportPageRows }))

/** Returns all rows of a list, up to the limit of an export. */
async function collect<Row>(fetchPage: (from: PageParams) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let from: PageParams = {}; rows.length < exportRowsMax; ) {
    const { items, nextCursor } = await fetchPage(from)
    rows.push(...items)
    if (nextCursor === null) break
    from = { cursor: nextCursor }
  }
  return rows.slice(0, exportRowsMax)
}
