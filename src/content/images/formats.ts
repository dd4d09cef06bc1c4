/** The formats that email clients show. SVG is not among them: it can contain scripts, and few clients show it. */
export const imageFormats = {
  png: { contentType: 'image/png', extension: 'png' },
  jpeg: { contentType: 'image/jpeg', extension: 'jpg' },
  gif: { contentType: 'image/gif', extension: 'gif' },
  webp: { contentType: 'image/webp', extension: 'webp' },
} as const

export type ImageFormat = keyof typeof imageFormats
export type ImageContentType = (typeof imageFormats)[ImageFormat]['contentType']

export const imageContentTypes = Object.values(imageFormats).map(({ contentType }) => contentType)

export const extensionOf = (contentType: ImageContentType): string =>
  Object.values(imageFormats).find((format) => format.contentType === contentType)!.extension

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Returns the format by the first bytes, whatever the name or the declared type of the file. */
export function formatOf(bytes: Buffer): ImageFormat | undefined {
  if (bytes.subarray(0, pngStart.length).equals(pngStart)) return 'png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'jpeg'
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif'
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'webp' : undefined
}
