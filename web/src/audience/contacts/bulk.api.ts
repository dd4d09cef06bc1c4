import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, download as downloadFile, omitEmpty } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { BulkAction, BulkActionInput, ContactQuery, Filter } from '../../api/types.ts'
import { parseFilter } from '../segments/filter-text.ts'

const pendingRefetchMs = 700

/** The chosen contacts, or all that match the filters of the page. */
export type Selection = { ids: string[] } | { matching: ContactQuery }

const selectionOf = (selection: Selection): Pick<BulkActionInput, 'contact_ids' | 'matching'> => {
  if ('ids' in selection) return { contact_ids: selection.ids }
  const { filter, ...rest } = selection.matching
  const parsed: Filter | undefined = parseFilter(filter)
  return { matching: { ...omitEmpty(rest), ...(parsed && { filter: parsed }) } }
}

export const startBulkAction = (action: BulkAction['action'], selection: Selection, groupId?: string) =>
  dataOf(
    api.POST('/api/v1/organization/bulk-actions', {
      body: { action, ...selectionOf(selection), ...(groupId && { group_id: groupId }) },
    }),
  )
export const cancelBulkAction = (id: string) =>
  dataOf(api.POST('/api/v1/organization/bulk-actions/{id}/cancel', { params: { path: { id } } }))
export const bulkActionQuery = (id: string) =>
  queryOptions({
    queryKey: keys.bulkAction(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/bulk-actions/{id}', { params: { path: { id } } })),
    refetchInterval: (query) => (query.state.data?.finished_at ? false : pendingRefetchMs),
  })

/** Downloads the matching contacts as CSV. */
export const exportContacts = (filter: ContactQuery) =>
  downloadFile(
    `/api/v1/organization/contacts/export?${new URLSearchParams(omitEmpty(filter) as Record<string, string>)}`,
    'contacts.csv',
  )
