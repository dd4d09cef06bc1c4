import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useLocalPages } from '../../api/pages.ts'
import type { ContactQuery, Filter } from '../../api/types.ts'
import { flowChoicesQuery } from '../../content/flows/flows.api.ts'
import { groupsQuery } from '../contacts/contacts.api.ts'
import type { Names } from './describe-filter.ts'

const at = (id: string) => ({ params: { path: { id } } })

export const segmentsQuery = queryOptions({
  queryKey: keys.segments,
  queryFn: () => dataOf(api.GET('/api/v1/organization/segments')),
})
export function useSegments(query: string) {
  const words = query.toLowerCase()
  return useLocalPages(useQuery(segmentsQuery), ({ name }) => name.toLowerCase().includes(words))
}
export const segmentQuery = (id: string) =>
  queryOptions({
    queryKey: keys.segment(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/segments/{id}', at(id))),
  })

/** How many contacts match: an estimate if the exact number takes longer than a moment, unless `exact` is true. */
const contactCountQuery = (filter: Partial<ContactQuery> & { exact?: true }) =>
  queryOptions({
    queryKey: keys.contactCount(filter),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/organization/contacts/count', { params: { query: omitEmpty(filter) }, signal })),
  })

/** How many contacts match. The previous count stays while the next one is computed, and an estimate is then replaced. */
export function useContactCount(filter: Partial<ContactQuery>, { refined = true } = {}) {
  const quick = useQuery({ ...contactCountQuery(filter), placeholderData: keepPreviousData })
  const isEstimate = quick.data?.approximate === true && !quick.isPlaceholderData
  const exact = useQuery({ ...contactCountQuery({ ...filter, exact: true }), enabled: refined && isEstimate })
  return {
    data: (isEstimate && exact.data) || quick.data,
    error: quick.error,
    isFetching: quick.isFetching || exact.isFetching,
  }
}

type SegmentInput = { name: string; filter: Filter }
export const createSegment = (body: SegmentInput) => dataOf(api.POST('/api/v1/organization/segments', { body }))
export const changeSegment = (id: string, body: SegmentInput) =>
  dataOf(api.PATCH('/api/v1/organization/segments/{id}', { ...at(id), body }))
export const deleteSegment = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/segments/{id}', at(id)))

/** The attributes that contacts have, by name, with the type of their values. */
export const attributesQuery = queryOptions({
  queryKey: keys.attributes,
  queryFn: async () => {
    const attributes = await dataOf(api.GET('/api/v1/organization/contacts/attributes'))
    const byName = [...attributes].sort((one, other) => one.name.localeCompare(other.name))
    return new Map(byName.map(({ name, type }) => [name, type]))
  },
  staleTime: 60_000,
})

const broadcastsMax = 100

/** The newest broadcasts, for the names in descriptions of filters. */
const newestBroadcastsQuery = queryOptions({
  queryKey: keys.broadcastList({ limit: broadcastsMax }),
  queryFn: async () => {
    const query = { limit: broadcastsMax }
    const { items } = await pageOf(api.GET('/api/v1/organization/broadcasts', { params: { query } }))
    return items
  },
})

/** The names of records that filters name, by id, for descriptions of filters. */
export function useNames(): Names {
  const groups = useQuery(groupsQuery)
  const flows = useQuery(flowChoicesQuery(''))
  const segments = useQuery(segmentsQuery)
  const broadcasts = useQuery(newestBroadcastsQuery)
  return useMemo(
    () =>
      new Map(
        [groups.data, flows.data, segments.data, broadcasts.data]
          .flatMap((records): { id: string; name: string }[] => records ?? [])
          .map(({ id, name }) => [id, name]),
      ),
    [groups.data, flows.data, segments.data, broadcasts.data],
  )
}
