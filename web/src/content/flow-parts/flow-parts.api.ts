import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

const at = (id: string) => ({ params: { path: { id } } })

export const flowPartsQuery = queryOptions({
  queryKey: keys.flowParts,
  queryFn: () => dataOf(api.GET('/api/v1/organization/flow-parts')),
})
/** With its text and the flows that include it. Not kept, so that nobody edits an old text. */
export const flowPartQuery = (id: string) =>
  queryOptions({
    queryKey: keys.flowPart(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/flow-parts/{id}', at(id))),
    gcTime: 0,
  })
export const createFlowPart = (body: { name: string; html: string }) =>
  dataOf(api.POST('/api/v1/organization/flow-parts', { body }))
export const changeFlowPart = (id: string, html: string) =>
  dataOf(api.PATCH('/api/v1/organization/flow-parts/{id}', { ...at(id), body: { html } }))
export const deleteFlowPart = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/flow-parts/{id}', at(id)))
