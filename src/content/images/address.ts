import { timingSafeEqual } from 'node:crypto'
import type { ImageId, OrganizationId } from '../../platform/values/ids.ts'
import { readUuid, uuidBytes, writeUuid } from '../../platform/values/uuid.ts'
import { extensionOf, imageFormats } from './formats.ts'
import type { Image } from './images.sql.ts'

// The last part of the path of an image: organization, id and secret in base64url, and the extension. The secret is stored,
// not derived from APP_SECRET, so that the images of old emails stay visible whatever happens to the secret.

export const secretBytes = 16
const extensions = Object.values(imageFormats).map(({ extension }) => extension)
const keyPattern = new RegExp(`^([A-Za-z0-9_-]{64})\\.(${extensions.join('|')})$`)

type Addressed = Pick<Image, 'organizationId' | 'id' | 'secret' | 'contentType'>

/** The part that identifies the image, without the extension. */
export function imageKeyOf({ organizationId, id, secret }: Omit<Addressed, 'contentType'>): string {
  const bytes = Buffer.alloc(2 * uuidBytes + secretBytes)
  writeUuid(bytes, 0, organizationId)
  writeUuid(bytes, uuidBytes, id)
  secret.copy(bytes, 2 * uuidBytes)
  return bytes.toString('base64url')
}

export const imageUrlOf = (baseUrl: string, image: Addressed): string =>
  `${baseUrl.replace(/\/+$/, '')}/i/${imageKeyOf(image)}.${extensionOf(image.contentType)}`

export type ImageAddress = { organizationId: OrganizationId; id: ImageId; secret: Buffer; extension: string }

/** Returns undefined if it is not the address of any image. */
export function readImageAddress(file: string): ImageAddress | undefined {
  const [, key, extension] = keyPattern.exec(file) ?? []
  if (key === undefined || extension === undefined) return undefined
  const bytes = Buffer.from(key, 'base64url')
  return {
    organizationId: readUuid(bytes, 0) as OrganizationId,
    id: readUuid(bytes, uuidBytes) as ImageId,
    secret: bytes.subarray(2 * uuidBytes),
    extension,
  }
}

export const isAddressOf = ({ secret, extension }: ImageAddress, image: Image): boolean =>
  timingSafeEqual(secret, image.secret) && extension === extensionOf(image.contentType)
