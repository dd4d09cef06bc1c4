import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type { Flow, FlowRow, FlowStatus, FlowText, FlowVersion, FlowVersionRow, Preview } from '../api/types.ts'
import type { Context } from './sample-data.ts'

const root = 'organization/flows'

export const useFlows = (filter: { query: string; status: FlowStatus | '' }) =>
  usePages<FlowRow>(['flows', 'list'], root, filter)

/** The first hundred, for a filter's drop-down. */
export const flowChoicesQuery = queryOptions({
  queryKey: ['flows', 'choices'],
  queryFn: async () => (await api.page<FlowRow>(root, { limit: 100 })).items,
  staleTime: 60_000,
})

export const flowQuery = (id: string) =>
  queryOptions({ queryKey: ['flows', id], queryFn: () => api.get<Flow>(`${root}/${id}`) })

export const createFlow = (input: FlowText) => api.post<Flow>(root, input)
export const changeFlow = (id: string, input: Partial<FlowText> & { status?: FlowStatus }) =>
  api.patch<Flow>(`${root}/${id}`, input)
export const deleteFlow = (id: string) => api.remove(`${root}/${id}`)
export const sendTest = (id: string, input: { to: string; context: Context }) =>
  api.post<{ message_id: string; status: string }>(`${root}/${id}/test`, input)

/** What the editor's text looks like now, saved or not. While the next answer is made the last one stays. */
export const previewQuery = (input: Partial<FlowText> & { context: Context }) =>
  queryOptions({
    queryKey: ['flow-preview', input],
    queryFn: () => api.post<Preview>(`${root}/preview`, input),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  })

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['flows', id, 'versions'],
    queryFn: () => api.get<FlowVersionRow[]>(`${root}/${id}/versions`),
  })
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['flows', id, 'versions', version],
    queryFn: () => api.get<FlowVersion>(`${root}/${id}/versions/${version}`),
    staleTime: Number.POSITIVE_INFINITY,
  })

export function useRefreshFlows(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['flows'] })
}
