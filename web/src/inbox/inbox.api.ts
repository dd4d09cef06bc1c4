import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type { InboxMail, InboxRow } from '../api/types.ts'

export const useInbox = () => usePages<InboxRow>(['inbox', 'list'], 'organization/inbox', {}, { live: true })
export const inboxMailQuery = (id: string) =>
  queryOptions({
    queryKey: ['inbox', id],
    queryFn: () => api.get<InboxMail>(`organization/inbox/${id}`),
    staleTime: Number.POSITIVE_INFINITY,
  })
export const emptyInbox = () => api.remove<{ deleted: number }>('organization/inbox')
