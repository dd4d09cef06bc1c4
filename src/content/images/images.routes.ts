import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  ok,
  oneOf,
  page,
  pages,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { ImageId } from '../../platform/values/ids.ts'
import { nameMax } from '../../platform/values/names.ts'
import { imageUrlOf } from './address.ts'
import { FlowReference, flowReferences } from './flow-reference.ts'
import { imageContentTypes } from './formats.ts'
import { selectImages } from './images.sql.ts'
import {
  altTextMax,
  changeImage,
  createImage,
  deleteImage,
  findFlowsWith,
  getImage,
  type Image,
  type ImageParts,
  imagesMax,
} from './images.ts'
import { framesMax, pixelsMax, sideMax, storedBytesMax, storedWidthMax } from './prepare-image.task.ts'

const mib = 1024 * 1024
/** Photos of phones are often larger than what is stored of them. */
export const uploadBytesMax = 10 * mib
/** 0.7 Mbit/s for the largest file. */
const bodyTimeoutMs = 120_000
/** Bytes of uploads in memory. An upload counts from its first byte to the response, however slowly it arrives. */
const uploads = {
  perOrganization: uploadBytesMax,
  overall: 12 * uploadBytesMax,
  waitingPerOrganization: 20,
  waitMs: 60_000,
}
const processing = { perOrganization: 2, overall: 6, waitingPerOrganization: 20, waitMs: 30_000 }

const ImageOut = Named('Image', {
  id: Type.String(),
  name: Type.String(),
  alt_text: Type.String({ description: 'The text for readers who do not see the image.' }),
  url: Type.String({ description: 'The public address. Nobody can guess it, and it never changes.' }),
  content_type: oneOf(...imageContentTypes),
  width: Type.Integer({ description: 'In pixels.' }),
  height: Type.Integer({ description: 'In pixels.' }),
  frames: Type.Integer({ description: 'More than 1 if it is animated.' }),
  size_bytes: Type.Integer(),
  created_at: Timestamp,
})
const AltText = Type.String({ maxLength: altTextMax, description: 'The text for readers who do not see the image.' })
const Name = Type.String({ minLength: 1, maxLength: nameMax })

export type ImageRouteParts = ImageParts & { read: BoundedRead; baseUrl: () => string; stageRegistry: StageRegistry }

export function imageRoutes(parts: ImageRouteParts): FastifyPluginAsyncTypebox {
  const { db, read, baseUrl } = parts
  const imageOut = imageOutFor(baseUrl)
  return async (api) => {
    tagRoutes(api, 'Images')
    api.get('/images', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'listImages',
        summary: 'List images',
        description: 'The images of the gallery, newest first.',
        querystring: Type.Object({
          ...pageQuery,
          query: Type.Optional(Type.String({ maxLength: nameMax, description: 'Part of the name, in any case.' })),
        }),
        response: pages(ImageOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const { limit, cursor } = readPage(request.query, [uuidPart])
        const filter = { query: request.query.query, before: cursor?.[0] as ImageId | undefined, limit: limit + 1 }
        const images = await read(organizationId, (tx) => selectImages(tx, organizationId, filter))
        const { items, nextCursor } = toPage(images, limit, ({ id }) => [id])
        return page({ items: items.map(imageOut), nextCursor })
      },
    })

    api.get('/images/:id', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getImage',
        summary: 'Get an image',
        description: '`flows` are up to 20 flows whose published version or draft contains the address of the image.',
        params: IdParams,
        response: answers(
          Named('ImageDetails', {
            ...ImageOut.properties,
            flows: Type.Array(FlowReference),
          }),
        ),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'img')
        return read(organizationId, async (tx) => {
          const image = await getImage(tx, organizationId, id)
          const flows = await findFlowsWith(tx, image)
          return ok({ ...imageOut(image), flows: flowReferences(flows) })
        })
      },
    })

    api.patch('/images/:id', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'updateImage',
        summary: 'Update an image',
        description: 'Changes the name and the text of the gallery. Templates keep the text that they contain.',
        params: IdParams,
        body: Type.Object({ name: Type.Optional(Name), alt_text: Type.Optional(AltText) }),
        response: answers(ImageOut),
      },
      handler: async (request) => {
        const { name, alt_text: altText } = request.body
        return ok(imageOut(await changeImage(db, ...targetOf(request, 'img'), { name, altText })))
      },
    })

    api.delete('/images/:id', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'deleteImage',
        summary: 'Delete an image',
        description:
          'Emails that contain the image, also those that were sent, show its text instead. Get the image first to see which flows use it. It may be served for another minute.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await deleteImage(db, ...targetOf(request, 'img'))
        return ok(null, 'Image deleted')
      },
    })

    await api.register(uploadRoute(parts))
  }
}

/** In its own plugin because its body is a file. */
function uploadRoute(parts: ImageRouteParts): FastifyPluginAsyncTypebox {
  const { stageRegistry } = parts
  const uploading = stageRegistry.stage('image uploads', 'client', uploads)
  const inProcess = stageRegistry.stage('image processing', 'service', processing)
  const imageOut = imageOutFor(parts.baseUrl)
  return async (api) => {
    tagRoutes(api, 'Images')
    api.removeAllContentTypeParsers()
    api.addContentTypeParser([...imageContentTypes], (_request, content, done) => done(null, content))
    api.addContentTypeParser('*', (_request, _content, done) => done(wrongMediaType()))
    const file = { description: 'The file.' }
    api.post('/images', {
      bodyLimit: uploadBytesMax,
      config: { permission: 'flows:write', bodyTimeoutMs },
      schema: {
        operationId: 'uploadImage',
        summary: 'Upload an image',
        description: `The request body is the file: PNG, JPEG, GIF or WebP, up to ${uploadBytesMax / mib} MB, ${sideMax.toLocaleString('en')} pixels on each side and ${pixelsMax / 1_000_000} million pixels, of all frames together if it is animated (at most ${framesMax}). It is decoded and checked. Metadata such as the place where a photo was taken is removed. Except for GIFs, images are turned upright, made smaller if they are wider than ${storedWidthMax.toLocaleString('en')} pixels, and encoded again; the result can have ${storedBytesMax / mib} MB.

The image is served at \`url\`, without a credential. An organization can have ${imagesMax.toLocaleString('en')} images.`,
        errors: {
          conflict: 'The organization has too many images, or they take too much space.',
          payload_too_large: `The file exceeds ${uploadBytesMax / mib} MB.`,
          unsupported_media_type: 'The `Content-Type` is not that of an image.',
          validation_failed: 'The file is damaged, has too many pixels, or is no image.',
        },
        consumes: [...imageContentTypes],
        querystring: Type.Object({
          name: Type.Optional({ ...Name, default: 'image', description: 'A label, such as the name of the file.' }),
          alt_text: Type.Optional(AltText),
        }),
        body: Type.Unsafe<Readable>({
          content: Object.fromEntries(imageContentTypes.map((type) => [type, { schema: file }])),
        }),
        response: creates(ImageOut),
      },
      handler: async (request, reply) => {
        const { name = 'image', alt_text: altText = '' } = request.query
        if (!request.body) throw wrongMediaType()
        const organizationId = organizationIdOf(request)
        const length = Number(request.headers['content-length'] ?? uploadBytesMax)
        if (length > uploadBytesMax) throw fileTooLarge()
        const create = async () => {
          const bytes = await bytesOf(request.body)
          return inProcess.run(organizationId, () => createImage(parts, organizationId, { name, altText, bytes }))
        }
        const image = await uploading.run(organizationId, create, length)
        return reply.status(201).send(created(imageOut(image)))
      },
    })
  }
}

/** Throws `Refusal` if the file is too large. */
async function bytesOf(content: Readable): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of content as AsyncIterable<Buffer>) {
    length += part.length
    if (length > uploadBytesMax) throw fileTooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const fileTooLarge = () => new Refusal('payload_too_large', `The file exceeds ${uploadBytesMax / mib} MB.`)

const toOut = outOf(
  ImageOut,
  { id: 'img' },
  { url: ({ url }: { url: string }) => url, size_bytes: ({ bytes }: { bytes: number }) => bytes },
)
const imageOutFor = (baseUrl: () => string) => (image: Image) => toOut({ ...image, url: imageUrlOf(baseUrl(), image) })

const wrongMediaType = () =>
  new Refusal(
    'unsupported_media_type',
    `Send the file as the request body, with one of these content types: ${imageContentTypes.join(', ')}.`,
  )
