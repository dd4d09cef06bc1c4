import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, dataOf, download, ensureSuccess, omitEmpty, pageOf } from '../api/client.ts'
import { keys } from '../api/keys.ts'
import { usePages } from '../api/pages.ts'
import type {
  Broadcast,
  BroadcastDetail,
  BroadcastEdit,
  BroadcastPreviewInput,
  BroadcastRecipient,
  BroadcastStatus,
  EmailBlocker,
  Engagement,
  RecipientStatus,
} from '../api/types.ts'
import { idleRefetchMs, refetchMsOf } from './pace.ts'

const at = (id: string) => ({ params: { path: { id } } })

export const useBroadcasts = (filter: { query: string; status: BroadcastStatus | '' }) =>
  usePages<Broadcast>(
    keys.broadcastList(filter),
    (from, signal) =>
      pageOf(
        api.GET('/api/v1/organization/broadcasts', { params: { query: { ...omitEmpty(filter), ...from } }, signal }),
      ),
    { live: true },
  )

export const broadcastQuery = (id: string) =>
  queryOptions({
    queryKey: keys.broadcast(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/broadcasts/{id}', at(id))),
    refetchInterval: ({ state: { data, dataUpdateCount } }) => refetchMsOf(data, dataUpdateCount),
  })

export type RecipientFilter = {
  status: RecipientStatus | ''
  engagement: Engagement | ''
  link: string
  variant: VariantKey | ''
}

export const useRecipients = (id: string, filter: RecipientFilter, live: boolean) =>
  usePages<BroadcastRecipient>(
    keys.broadcastRecipients(id, filter),
    (from, signal) =>
      pageOf(
        api.GET('/api/v1/organization/broadcasts/{id}/recipients', {
          params: { path: { id }, query: { ...omitEmpty(filter), ...from } },
          signal,
        }),
      ),
    { live },
  )

/** Shown instead of figures before the first count. */
export const beingCounted = 'The results are being counted'

/** Repeated clicks do not change the totals of the broadcast. */
export const linksQuery = (id: string) =>
  queryOptions({
    queryKey: keys.broadcastLinks(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/broadcasts/{id}/links', at(id))),
    refetchInterval: idleRefetchMs,
  })

export const hoursQuery = (id: string) =>
  queryOptions({
    queryKey: keys.broadcastHours(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/broadcasts/{id}/hours', at(id))),
  })

/** The last preview stays while the next one loads. */
export const broadcastPreviewQuery = (id: string, body: BroadcastPreviewInput) =>
  queryOptions({
    queryKey: keys.broadcastPreview(id, body),
    queryFn: ({ signal }) =>
      dataOf(api.POST('/api/v1/organization/broadcasts/{id}/preview', { ...at(id), body, signal })),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** Sent broadcasts to choose from: the newest, or those whose name contains the text. */
export const sentBroadcastsQuery = (query: string) =>
  queryOptions({
    queryKey: keys.search('sent-broadcasts', query),
    queryFn: async ({ signal }) => {
      const params = { query: { ...omitEmpty({ query }), status: 'sent' as const, limit: 20 } }
      return (await pageOf(api.GET('/api/v1/organization/broadcasts', { params, signal }))).items
    },
    placeholderData: keepPreviousData,
  })

/** Broadcasts that were started, including unfinished ones. Drafts are left out here: the API filters by one status only. */
export const startedBroadcastsQuery = (query: string) =>
  queryOptions({
    queryKey: keys.search('started-broadcasts', query),
    queryFn: async ({ signal }) => {
      const params = { query: { ...omitEmpty({ query }), limit: 50 } }
      const { items } = await pageOf(api.GET('/api/v1/organization/broadcasts', { params, signal }))
      return items.filter(({ started_at: startedAt }) => startedAt !== null)
    },
    placeholderData: keepPreviousData,
  })

/** As many as the API compares. */
export const comparedMax = 10
/** Without ids, the last ones. */
export const comparisonQuery = (ids: string[] | undefined) =>
  queryOptions({
    queryKey: keys.broadcastComparison(ids),
    queryFn: () =>
      dataOf(api.GET('/api/v1/organization/broadcasts/compare', { params: { query: ids ? { ids: ids.join() } : {} } })),
    enabled: ids?.length !== 0,
    placeholderData: keepPreviousData,
  })

export const createBroadcast = (body: { name: string }) => dataOf(api.POST('/api/v1/organization/broadcasts', { body }))
export const changeBroadcast = (id: string, body: BroadcastEdit) =>
  dataOf(api.PATCH('/api/v1/organization/broadcasts/{id}', { ...at(id), body }))
export const deleteBroadcast = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/broadcasts/{id}', at(id)))
export const duplicateBroadcast = (id: string) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/duplicate', at(id)))
/** Creates a draft for the recipients who have not opened the email. */
export const sendAgain = (id: string, body: { subject: string }) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/send-again', { ...at(id), body }))

/** With `send_now`, the plan is that of a scheduled broadcast that is sent now. */
export const checkBroadcast = (id: string, query: { send_now?: true } = {}) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/check', { params: { path: { id }, query } }))
/** How many would get a broadcast with this audience. A newer request cancels this one. */
export const audienceCountQuery = (body: Composed) =>
  queryOptions({
    queryKey: keys.audienceCount(body),
    queryFn: ({ signal }) => dataOf(api.POST('/api/v1/organization/broadcasts/count-audience', { body, signal })),
    retry: false,
  })
type Composed = Pick<BroadcastDetail, 'audience' | 'service_announcement'>
export type VariantKey = NonNullable<Broadcast['winner']>
/** Without a variant, the first is tested. */
export const testBroadcast = (id: string, to: string, variant?: VariantKey) =>
  dataOf(
    api.POST('/api/v1/organization/broadcasts/{id}/test', { ...at(id), body: { to, ...(variant && { variant }) } }),
  )
export const chooseVariant = (id: string, variant: VariantKey) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/choose-variant', { ...at(id), body: { variant } }))
/** What the check returned. */
type Confirmation = {
  expected_recipients: number
  expected_unsubscribed?: number
  accepted_blockers: EmailBlocker['code'][]
}
export const startBroadcast = (id: string, body: Confirmation) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/start', { ...at(id), body }))
export const scheduleBroadcast = (id: string, body: Confirmation) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/schedule', { ...at(id), body }))

export const sendBroadcastNow = (id: string, body: Confirmation) =>
  dataOf(api.POST('/api/v1/organization/broadcasts/{id}/send-now', { ...at(id), body }))

export const actions = {
  pause: (id: string) => dataOf(api.POST('/api/v1/organization/broadcasts/{id}/pause', at(id))),
  resume: (id: string) => dataOf(api.POST('/api/v1/organization/broadcasts/{id}/resume', at(id))),
  cancel: (id: string) => dataOf(api.POST('/api/v1/organization/broadcasts/{id}/cancel', at(id))),
  retryFailed: (id: string) => dataOf(api.POST('/api/v1/organization/broadcasts/{id}/retry-failed', at(id))),
} as const

/** Downloads the recipients as CSV. */
export const exportRecipients = (id: string, filter: RecipientFilter, fileName: string) =>
  download(
    `/api/v1/organization/broadcasts/${id}/recipients/export?${new URLSearchParams(omitEmpty(filter))}`,
    fileName,
  )

/** The number of emails that left, bounced ones included, as in the results. */
export const sentOf = ({ counts }: BroadcastDetail | Broadcast) => counts.sent + counts.bounced

/** The number of recipients whose outcome is known, without those that were cancelled. */
export const doneOf = ({ recipients, counts }: BroadcastDetail | Broadcast) =>
  (recipients ?? 0) - counts.pending - counts.queued - counts.cancelled
