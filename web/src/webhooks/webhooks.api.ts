import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { usePages } from '../api/pages.ts'
import type {
  Delivery,
  DeliveryDetail,
  DeliveryStatus,
  EventName,
  EventType,
  NewWebhook,
  TestResult,
  Webhook,
} from '../api/types.ts'

const root = 'organization/webhooks'
const stillGoingEveryMs = 2_000

export type WebhookInput = { name: string; url: string; event_types?: EventName[]; all_events?: boolean }

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: () => api.get<Webhook[]>(root),
})

export const webhookQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', id], queryFn: () => api.get<Webhook>(`${root}/${id}`) })

export const eventTypesQuery = queryOptions({
  queryKey: ['event-types'],
  queryFn: () => api.get<EventType[]>('event-types'),
  staleTime: Number.POSITIVE_INFINITY,
})

export type DeliveryFilter = { status: DeliveryStatus | ''; eventName: EventName | '' }

export const useDeliveries = (webhookId: string, filter: DeliveryFilter) =>
  usePages<Delivery>(
    ['webhooks', webhookId, 'deliveries'],
    `${root}/${webhookId}/deliveries`,
    { status: filter.status, event_name: filter.eventName },
    { live: true },
  )

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', id],
    queryFn: () => api.get<DeliveryDetail>(`organization/deliveries/${id}`),
    refetchInterval: (query) => (query.state.data?.status === 'pending' ? stillGoingEveryMs : false),
  })

export const createWebhook = (input: WebhookInput) => api.post<NewWebhook>(root, input)
export const changeWebhook = (id: string, input: Partial<WebhookInput> & { status?: 'active' | 'paused' }) =>
  api.patch<Webhook>(`${root}/${id}`, input)
export const deleteWebhook = (id: string) => api.remove(`${root}/${id}`)
export const rotateSecret = (id: string, overlapHours: number) =>
  api.post<{ signing_secret: string }>(`${root}/${id}/rotate-secret`, { overlap_hours: overlapHours })
export const testWebhook = (id: string, eventName: EventName) =>
  api.post<TestResult>(`${root}/${id}/test`, { event_name: eventName })
export const replayDelivery = (id: string) => api.post<{ replayed: number }>(`organization/deliveries/${id}/replay`)
export const replayFailed = (id: string, since: string) =>
  api.post<{ replayed: number }>(`${root}/${id}/replay`, { since })

/** After any change: the list, the records and the logs may all be different now. */
export function useRefreshWebhooks(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['webhooks'] }),
      queries.invalidateQueries({ queryKey: ['deliveries'] }),
      queries.invalidateQueries({ queryKey: ['checklist'] }),
    ])
}
