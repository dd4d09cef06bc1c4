import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { ReceivingSiteLimits } from '../../api/types.ts'

const at = (site: string) => ({ params: { path: { site } } })

export const receivingSitesQuery = queryOptions({
  queryKey: keys.receivingSites,
  queryFn: () => dataOf(api.GET('/api/v1/organization/receiving-sites')),
})
export const changeReceivingSite = (site: string, body: ReceivingSiteLimits) =>
  dataOf(api.PUT('/api/v1/organization/receiving-sites/{site}', { ...at(site), body }))
export const resetReceivingSite = (site: string) =>
  dataOf(api.DELETE('/api/v1/organization/receiving-sites/{site}', at(site)))
