import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type { Message, MessageDetail, MessageStatus } from '../api/types.ts'

const root = 'organization/messages'
const liveEveryMs = 3_000

export type MessageFilter = { query: string; status: MessageStatus | ''; flow_id: string }

export const useMessages = (filter: MessageFilter) =>
  usePages<Message>(['messages', 'list'], root, filter, { live: true })
export const messageQuery = (id: string) =>
  queryOptions({
    queryKey: ['messages', id],
    queryFn: () => api.get<MessageDetail>(`${root}/${id}`),
    refetchInterval: liveEveryMs,
  })
