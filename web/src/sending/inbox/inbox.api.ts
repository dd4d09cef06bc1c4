import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { InboxRow } from '../../api/types.ts'

const arrivalTriesMax = 5
const arrivalCheckMs = 1_000

export const useInbox = () =>
  usePages<InboxRow>(
    keys.inboxList,
    (from, signal) => pageOf(api.GET('/api/v1/organization/inbox', { params: { query: from }, signal })),
    { live: true },
  )
export const inboxEmailQuery = (id: string) =>
  queryOptions({
    queryKey: keys.inboxEmail(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/inbox/{id}', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
    // The link of a test email may be followed before the email has arrived.
    retry: arrivalTriesMax,
    retryDelay: arrivalCheckMs,
  })
export const emptyInbox = () => dataOf(api.DELETE('/api/v1/organization/inbox'))
