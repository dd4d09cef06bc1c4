import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type { Contact, ContactImport, ContactStatus, Group, TimelineEntry } from '../api/types.ts'
import type { Mapping } from './csv-mapping.ts'

const root = 'organization/contacts'
const stillGoingEveryMs = 700

export type ContactFilter = { query: string; group_id: string; status: ContactStatus | '' }
export type ContactInput = {
  email?: string
  first_name?: string | null
  last_name?: string | null
  attributes?: Record<string, unknown>
}

export const useContacts = (filter: ContactFilter) => usePages<Contact>(['contacts', 'list'], root, filter)
export const contactQuery = (id: string) =>
  queryOptions({ queryKey: ['contacts', id], queryFn: () => api.get<Contact>(`${root}/${id}`) })
export const useTimeline = (id: string) =>
  usePages<TimelineEntry>(['contacts', id, 'timeline'], `${root}/${id}/timeline`, {}, { live: true })

export const createContact = (input: ContactInput & { group_ids?: string[] }) => api.post<Contact>(root, input)
export const changeContact = (id: string, input: ContactInput & { status?: 'subscribed' | 'unsubscribed' }) =>
  api.patch<Contact>(`${root}/${id}`, input)
export const eraseContact = (id: string) => api.remove(`${root}/${id}`)

export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: () => api.get<Group[]>('organization/groups'),
})
export const createGroup = (name: string) => api.post<Group>('organization/groups', { name })
export const renameGroup = (id: string, name: string) => api.patch<Group>(`organization/groups/${id}`, { name })
export const deleteGroup = (id: string) => api.remove(`organization/groups/${id}`)
export const addToGroup = (id: string, contactId: string) =>
  api.post(`organization/groups/${id}/members`, { contact_ids: [contactId] })
export const removeFromGroup = (id: string, contactId: string) =>
  api.remove(`organization/groups/${id}/members/${contactId}`)

export const importsQuery = queryOptions({
  queryKey: ['imports'],
  queryFn: () => api.get<ContactImport[]>('organization/imports'),
})
export const importQuery = (id: string) =>
  queryOptions({
    queryKey: ['imports', id],
    queryFn: () => api.get<ContactImport>(`organization/imports/${id}`),
    refetchInterval: (query) => (isOver(query.state.data) ? false : stillGoingEveryMs),
  })
const isOver = (one: ContactImport | undefined) => one?.status === 'done' || one?.status === 'failed'

export const startImport = (file: File, mapping: Mapping, groupId: string | null) =>
  api.upload<ContactImport>(
    `${root}/import`,
    { filename: file.name, group_id: groupId, mapping: JSON.stringify(mapping) },
    file,
    'text/csv',
  )

export function useRefreshContacts(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['contacts'] }),
      queries.invalidateQueries({ queryKey: ['groups'] }),
    ])
}
