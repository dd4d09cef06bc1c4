import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type {
  Delivery,
  DeliveryStatus,
  Webhook,
  WebhookChange,
  WebhookEventName,
  WebhookInput,
} from '../../api/types.ts'

const pendingRefetchMs = 2_000
/** The interval of the delivery log on the same page, so that they agree. */
const liveRefetchMs = 3_000
const at = (id: string) => ({ params: { path: { id } } })

export const webhooksQuery = queryOptions({
  queryKey: keys.webhooks,
  queryFn: () => dataOf(api.GET('/api/v1/organization/webhooks')),
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: keys.webhook(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/webhooks/{id}', at(id))),
    refetchInterval: liveRefetchMs,
  })

export const eventTypesQuery = queryOptions({
  queryKey: keys.eventTypes,
  queryFn: () => dataOf(api.GET('/api/v1/event-types')),
  staleTime: Number.POSITIVE_INFINITY,
})

export const retrySchedulesQuery = queryOptions({
  queryKey: keys.retrySchedules,
  queryFn: () => dataOf(api.GET('/api/v1/organization/webhooks/retry-schedules')),
  staleTime: Number.POSITIVE_INFINITY,
})

/** For example "3 times over 3.5 minutes". Undefined until it is loaded. */
export function useRetryText(schedule: Webhook['retry_schedule']): string | undefined {
  const schedules = useQuery(retrySchedulesQuery)
  return schedules.data?.find(({ name }) => name === schedule)?.in_words
}

export type DeliveryFilter = { status: DeliveryStatus | ''; event_name: WebhookEventName | '' }

export const useDeliveries = (id: string, filter: DeliveryFilter) =>
  usePages<Delivery>(
    keys.webhookDeliveries(id, filter),
    (from, signal) =>
      pageOf(
        api.GET('/api/v1/organization/webhooks/{id}/deliveries', {
          params: { path: { id }, query: { ...omitEmpty(filter), ...from } },
          signal,
        }),
      ),
    { live: true },
  )

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: keys.delivery(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/deliveries/{id}', at(id))),
    refetchInterval: (query) => (query.state.data?.status === 'pending' ? pendingRefetchMs : false),
  })

export const createWebhook = (body: WebhookInput) => dataOf(api.POST('/api/v1/organization/webhooks', { body }))
export const changeWebhook = (id: string, body: WebhookChange) =>
  dataOf(api.PATCH('/api/v1/organization/webhooks/{id}', { ...at(id), body }))
export const deleteWebhook = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/webhooks/{id}', at(id)))
export const rotateSecret = (id: string, overlapHours: number) =>
  dataOf(
    api.POST('/api/v1/organization/webhooks/{id}/rotate-secret', { ...at(id), body: { overlap_hours: overlapHours } }),
  )
export const testWebhook = (id: string, eventName: WebhookEventName) =>
  dataOf(api.POST('/api/v1/organization/webhooks/{id}/test', { ...at(id), body: { event_name: eventName } }))
export const replayDelivery = (id: string) => dataOf(api.POST('/api/v1/organization/deliveries/{id}/replay', at(id)))
export const replayFailed = (id: string, since: string) =>
  dataOf(api.POST('/api/v1/organization/webhooks/{id}/replay', { ...at(id), body: { since } }))

/** Refreshes the lists, details and delivery logs after a change. */
export function useRefreshWebhooks(): () => Promise<unknown> {
  const invalidate = useInvalidate()
  return () => invalidate(keys.webhooks, keys.deliveries, keys.checklist)
}
