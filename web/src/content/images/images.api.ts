import { queryOptions } from '@tanstack/react-query'
import { api, dataOf, ensureSuccess, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { Image } from '../../api/types.ts'

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
export const altTextMax = 500
const bytesMax = 10 * 1024 * 1024

const at = (id: string) => ({ params: { path: { id } } })

export function useImages(query: string) {
  const filter = omitEmpty({ query })
  return usePages<Image>(keys.imageList(filter), (from, signal) =>
    pageOf(api.GET('/api/v1/organization/images', { params: { query: { ...filter, ...from } }, signal })),
  )
}

/** With the flows that use the image. */
export const imageQuery = (id: string) =>
  queryOptions({
    queryKey: keys.image(id),
    queryFn: () => dataOf(api.GET('/api/v1/organization/images/{id}', at(id))),
  })

/** Throws an error for the user if the file can be rejected without sending it. */
export async function uploadImage(file: File): Promise<Image> {
  if (!imageTypes.includes(file.type)) throw new Error('Not a PNG, JPEG, GIF or WebP image.')
  if (file.size > bytesMax) throw new Error('Larger than 10 MB.')
  return dataOf(
    api.POST('/api/v1/organization/images', {
      params: { query: { name: nameOf(file) } },
      headers: { 'content-type': file.type },
      body: file as never,
      bodySerializer: (body) => body,
    }),
  )
}

/** The name of the file without its extension. */
const nameOf = ({ name }: File) => name.replace(/\.\w+$/, '').slice(0, 200) || 'image'

export type ImageChange = { name?: string; alt_text?: string }
export const changeImage = (id: string, body: ImageChange) =>
  dataOf(api.PATCH('/api/v1/organization/images/{id}', { ...at(id), body }))
export const deleteImage = (id: string) => ensureSuccess(api.DELETE('/api/v1/organization/images/{id}', at(id)))
