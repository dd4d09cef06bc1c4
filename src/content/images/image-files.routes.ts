import { once } from 'node:events'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { isHostOfAnother } from '../../delivery/delivery.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { clientNetwork } from '../../platform/values/client-address.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { ServedImages } from './served-images.ts'

const retryAfterSeconds = 1
/** For a whole image. Even the largest takes less over a slow mobile connection. */
const sendMsMaxDefault = 60_000

const headers = {
  // The content at an address never changes.
  'cache-control': 'public, max-age=31536000, immutable',
  // If someone opens the address itself, the browser runs nothing and embeds nothing.
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'content-disposition': 'inline',
  'x-robots-tag': 'noindex',
}

/** `missLimit`: requests of one client address for images that do not exist. */
export type ImageFileParts = { images: ServedImages; missLimit: RateLimit; sendMsMax?: number }

/** The public addresses of images. */
export function imageFileRoutes({
  images,
  missLimit,
  sendMsMax = sendMsMaxDefault,
}: ImageFileParts): FastifyPluginAsync {
  /** Throws `Refusal` if the client requested too many images that do not exist. */
  const find = async (file: string, client: string) => {
    if (images.isKnown(file)) return images.find(file)
    // Before the search, so that many requests at the same time are limited, too.
    missLimit.take(client)
    const image = await images.find(file)
    if (image) missLimit.giveBack(client)
    return image
  }

  return async (server) => {
    const options = { schema: { hide: true }, config: { permission: 'public', onTrackingHosts: true } } as const
    server.get<{ Params: { file: string } }>('/i/:file', options, async (request, reply) => {
      await turnOf(reply)
      const image = await find(request.params.file, clientNetwork(request.ip))
      if (!image || isHostOfAnother(request, image.organizationId))
        throw new Refusal('not_found', 'There is no image at this address.')
      reply.headers({ ...headers, etag: image.etag })
      if (request.headers['if-none-match']?.includes(image.etag)) return reply.code(304).send()
      // It was closed meanwhile, and does not emit `close` again.
      if (reply.raw.destroyed) throw new Refusal('unavailable', 'The connection was closed.')
      if (!images.begin(image))
        throw new Refusal('unavailable', 'Too many images are being sent. Try again in a moment.', {
          retryAfterSeconds,
        })
      const timeout = setTimeout(() => reply.raw.destroy(), sendMsMax)
      reply.raw.once('close', () => {
        clearTimeout(timeout)
        images.end(image)
      })
      return reply.type(image.contentType).send(image.content)
    })
  }
}

/**
 * Waits until the earlier responses of a connection were sent. A response that still waits when the connection is closed
 * emits nothing, so it must not hold anything.
 */
async function turnOf({ raw }: FastifyReply): Promise<void> {
  if (!raw.socket) await once(raw, 'socket')
}
