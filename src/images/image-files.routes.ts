import type { FastifyPluginAsync } from 'fastify'
import { isHostOfOther } from '../domains/tracking-hosts.ts'
import { Refusal } from '../values/errors.ts'
import type { ServedImages } from './served-images.ts'

const retryAfterSeconds = 1

const headers = {
  // The content at an address never changes.
  'cache-control': 'public, max-age=31536000, immutable',
  // If someone opens the address itself, the browser runs nothing and embeds nothing.
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'content-disposition': 'inline',
  'x-robots-tag': 'noindex',
}

/** The public addresses of images. */
export function imageFileRoutes(images: ServedImages): FastifyPluginAsync {
  return async (server) => {
    const options = { schema: { hide: true }, config: { onTrackingHosts: true } } as const
    server.get<{ Params: { file: string } }>('/i/:file', options, async (request, reply) => {
      const image = await images.find(request.params.file)
      if (!image || isHostOfOther(request, image.organizationId))
        throw new Refusal('not_found', 'There is no image at this address.')
      reply.headers({ ...headers, etag: image.etag })
      if (request.headers['if-none-match']?.includes(image.etag)) return reply.code(304).send()
      if (!images.begin(image))
        throw new Refusal('unavailable', 'Too many images are being sent. Try again in a moment.', {
          retryAfterSeconds,
        })
      reply.raw.once('close', () => images.end(image))
      return reply.type(image.contentType).send(image.content)
    })
  }
}
