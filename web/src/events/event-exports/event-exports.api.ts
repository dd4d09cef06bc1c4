import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { EventExportChange, EventExportInput } from '../../api/types.ts'

const refetchMs = 5_000
const at = (id: string) => ({ params: { path: { id } } })

export const eventExportsQuery = queryOptions({
  queryKey: keys.eventExports,
  queryFn: () => dataOf(api.GET('/api/v1/organization/event-exports')),
})

export const eventExportQuery = (id: string) =>
  queryOptions({
    queryKey: keys.eventExport(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/event-exports/{id}', at(id))),
    refetchInterval: refetchMs,
  })

export const createEventExport = (body: EventExportInput) =>
  dataOf(api.POST('/api/v1/organization/event-exports', { body }))
export const changeEventExport = (id: string, body: EventExportChange) =>
  dataOf(api.PATCH('/api/v1/organization/event-exports/{id}', { ...at(id), body }))
export const deleteEventExport = (id: string) =>
  ensureSuccess(api.DELETE('/api/v1/organization/event-exports/{id}', at(id)))
export const testEventExport = (id: string) => dataOf(api.POST('/api/v1/organization/event-exports/{id}/test', at(id)))

export function useRefreshEventExports(): () => Promise<unknown> {
  const invalidate = useInvalidate()
  return () => invalidate(keys.eventExports)
}
