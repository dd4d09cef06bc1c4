import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import { useLocalPages, usePages } from '../../api/pages.ts'
import type {
  Contact,
  ContactImport,
  ContactInput,
  ContactOrder,
  ContactQuery,
  NewContact,
  TimelineEntry,
} from '../../api/types.ts'
import type { Mapping } from './import-mapping.ts'

const pendingRefetchMs = 700
const at = (id: string) => ({ params: { path: { id } } })

export function useContacts(filter: ContactQuery, sort: ContactOrder | '' = '') {
  const query = omitEmpty({ ...filter, sort })
  return usePages<Contact>(keys.contactList(query), (from, signal) =>
    pageOf(api.GET('/api/v1/organization/contacts', { params: { query: { ...query, ...from } }, signal })),
  )
}
export const contactQuery = (id: string) =>
  queryOptions({
    queryKey: keys.contact(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/contacts/{id}', at(id))),
  })
export const useTimeline = (id: string) =>
  usePages<TimelineEntry>(
    keys.contactTimeline(id),
    (from, signal) =>
      pageOf(
        api.GET('/api/v1/organization/contacts/{id}/timeline', {
          params: { path: { id }, query: { ...from, by_message: true } },
          signal,
        }),
      ),
    { live: true },
  )

export const createContact = (body: NewContact) => dataOf(api.POST('/api/v1/organization/contacts', { body }))
export const changeContact = (id: string, body: ContactInput) =>
  dataOf(api.PATCH('/api/v1/organization/contacts/{id}', { ...at(id), body }))
export const exportContact = (id: string) => dataOf(api.GET('/api/v1/organization/contacts/{id}/export', at(id)))
export const eraseContact = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/contacts/{id}', at(id)))

export const groupsQuery = queryOptions({
  queryKey: keys.groups,
  queryFn: () => dataOf(api.GET('/api/v1/organization/groups')),
})
export function useGroups(query: string) {
  const words = query.toLowerCase()
  return useLocalPages(useQuery(groupsQuery), ({ id, name }) => id === words || name.toLowerCase().includes(words))
}
export const createGroup = (name: string) => dataOf(api.POST('/api/v1/organization/groups', { body: { name } }))
export const renameGroup = (id: string, name: string) =>
  dataOf(api.PATCH('/api/v1/organization/groups/{id}', { ...at(id), body: { name } }))
export const deleteGroup = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/groups/{id}', at(id)))
export const addToGroup = (id: string, contactId: string) =>
  dataOf(api.POST('/api/v1/organization/groups/{id}/members', { ...at(id), body: { contact_ids: [contactId] } }))
export const removeFromGroup = (id: string, contactId: string) =>
  ensureSuccess(
    api.DELETE('/api/v1/organization/groups/{id}/members/{contact_id}', {
      params: { path: { id, contact_id: contactId } },
    }),
  )

export const importsQuery = queryOptions({
  queryKey: keys.imports,
  queryFn: () => dataOf(api.GET('/api/v1/organization/imports')),
})
export const importQuery = (id: string) =>
  queryOptions({
    queryKey: keys.contactImport(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/imports/{id}', at(id))),
    refetchInterval: (query) => (isSettled(query.state.data) ? false : pendingRefetchMs),
  })
export const isFinished = (record: Pick<ContactImport, 'status'> | undefined) =>
  record !== undefined && record.status !== 'queued' && record.status !== 'running'
/** Neither the import nor its undo is in progress. */
const isSettled = (record: Pick<ContactImport, 'status' | 'undo'> | undefined) =>
  isFinished(record) && (!record?.undo || record.undo.status === 'done')
export const undoImport = (id: string) => dataOf(api.POST('/api/v1/organization/imports/{id}/undo', at(id)))
export const startChecked = (id: string) => dataOf(api.POST('/api/v1/organization/imports/{id}/start', at(id)))
export const cancelImport = (id: string) => dataOf(api.POST('/api/v1/organization/imports/{id}/cancel', at(id)))

const inspectedBytesMax = 256 * 1024

/** `hasHeader` is undefined to guess it. */
export const inspectFile = (file: File, hasHeader?: boolean) =>
  dataOf(
    api.POST('/api/v1/organization/contacts/import/inspect', {
      params: { query: hasHeader === undefined ? {} : { has_header: hasHeader } },
      headers: { 'content-type': 'text/csv' },
      body: file.slice(0, inspectedBytesMax) as never,
      bodySerializer: (body) => body,
    }),
  )

export type ImportOptions = {
  group_id: string | null
  subscription: ContactImport['subscription']
  /** Only counts what the import would do. */
  dry_run: boolean
}

export const uploadImport = (file: File, mapping: Mapping, options: ImportOptions) =>
  dataOf(
    api.POST('/api/v1/organization/contacts/import', {
      params: { query: { filename: file.name, mapping: JSON.stringify(mapping), ...omitEmpty(options) } },
      headers: { 'content-type': 'text/csv' },
      body: file as never,
      bodySerializer: (body) => body,
    }),
  )

export function useRefreshContacts(): () => Promise<unknown> {
  const invalidate = useInvalidate()
  return () => invalidate(keys.contacts, keys.groups)
}
