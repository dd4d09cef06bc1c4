import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { BrandChange } from '../../api/types.ts'

export const brandQuery = queryOptions({
  queryKey: keys.brand,
  queryFn: () => dataOf(api.GET('/api/v1/organization/brand')),
})
export const changeBrand = (body: BrandChange) => dataOf(api.PATCH('/api/v1/organization/brand', { body }))
