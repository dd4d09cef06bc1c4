import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, download, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { Message, MessageEngagement, MessageStatus } from '../../api/types.ts'

const liveRefetchMs = 3_000

export type MessageFilter = {
  query: string
  status: MessageStatus | ''
  engagement: MessageEngagement | ''
  start_date?: string
  end_date?: string
  flow_id: string
  is_test: boolean | undefined
}

export const useMessages = (filter: MessageFilter) =>
  usePages<Message>(
    keys.messageList(filter),
    (from, signal) =>
      pageOf(
        api.GET('/api/v1/organization/messages', { params: { query: { ...omitEmpty(filter), ...from } }, signal }),
      ),
    { live: true },
  )
/** Downloads the messages as CSV. */
export const exportMessages = (filter: MessageFilter, fileName: string) =>
  download(
    `/api/v1/organization/messages/export?${new URLSearchParams(
      Object.entries(omitEmpty(filter)).map(([name, value]) => [name, String(value)]),
    )}`,
    fileName,
  )
export const messageQuery = (id: string) =>
  queryOptions({
    queryKey: keys.message(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/messages/{id}', { params: { path: { id } } })),
    refetchInterval: liveRefetchMs,
  })
export const downloadAttachment = (id: string, position: number, filename: string) =>
  download(`/api/v1/organization/messages/${id}/attachments/${position}`, filename)
export const cancelMessage = (id: string) =>
  dataOf(api.DELETE('/api/v1/organization/messages/{id}', { params: { path: { id } } }))
/** Whether an email of the flow was sent or queued that is not a test. */
export const flowUsedQuery = (flowId: string) =>
  queryOptions({
    queryKey: keys.flowUsed(flowId),
    queryFn: async () => {
      const query = { flow_id: flowId, is_test: false, limit: 1 }
      return (await pageOf(api.GET('/api/v1/organization/messages', { params: { query } }))).items.length > 0
    },
  })
/** The variables of the newest email of a flow, or none. */
export const newestContextQuery = (flowId: string) =>
  queryOptions({
    queryKey: keys.newestContext(flowId),
    queryFn: async () => {
      const query = { flow_id: flowId, is_test: false, limit: 1 }
      const [newest] = (await pageOf(api.GET('/api/v1/organization/messages', { params: { query } }))).items
      if (!newest) return {}
      const at = { params: { path: { id: newest.id } } }
      return (await dataOf(api.GET('/api/v1/organization/messages/{id}', at))).context ?? {}
    },
    // A newer email must not change what the user sees while editing.
    staleTime: Number.POSITIVE_INFINITY,
  })
/** The latest message to an address, or null. */
export const newestMessageQuery = (to: string) =>
  queryOptions({
    queryKey: keys.newestMessage(to),
    queryFn: async () => {
      const query = { query: to, limit: 1 }
      return (await pageOf(api.GET('/api/v1/organization/messages', { params: { query } }))).items[0] ?? null
    },
  })
export const sendMessageAgain = (id: string) =>
  dataOf(api.POST('/api/v1/organization/messages/{id}/send-again', { params: { path: { id } } }))
