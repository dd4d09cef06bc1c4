import type { Metadata, Sharp } from 'sharp'
import { defineTask } from '../../platform/tasks/task.ts'
import { invalid } from '../../platform/values/errors.ts'
import { cleanGif, DamagedGif } from './clean-gif.ts'
import { formatOf, type ImageContentType, type ImageFormat, imageFormats } from './formats.ts'

/** On each side. */
export const sideMax = 10_000
/** Of all frames together. */
export const pixelsMax = 40_000_000
/** Of all frames together, decoded. With 16 bits per channel, half as many pixels take as long and as much memory. */
const decodedBytesMax = 4 * pixelsMax
export const framesMax = 500
/** Four times the width of most emails. Wider pictures are made smaller. */
export const storedWidthMax = 2_400
export const storedBytesMax = 5 * 1024 * 1024
const msMax = 5_000

const quality = 85
/** Encoding WebP with more effort takes several times as long and saves a few percent. */
const webpEffort = 2

export type PreparedImage = {
  bytes: Buffer
  contentType: ImageContentType
  width: number
  height: number
  frames: number
}

/** The loaders of other formats are not needed, and some of them were attacked in the past. */
const loaders = ['Jpeg', 'Png', 'Nsgif', 'Webp'].map((name) => `VipsForeignLoad${name}Buffer`)

/**
 * Decodes and checks an image, and returns it without metadata: encoded again, and not wider than `storedWidthMax`. Throws
 * `Refusal` if it is no image, damaged or too large. The size is read from the header before anything is decoded.
 */
export async function prepareImage(bytes: Buffer): Promise<PreparedImage> {
  const format = formatOf(bytes)
  if (!format) throw problem('is not a PNG, JPEG, GIF or WebP image')
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: loaders })
  try {
    const isAnimation = format === 'gif' || format === 'webp'
    const open = (content: Buffer) =>
      sharp(content, { failOn: 'error', limitInputPixels: pixelsMax, animated: isAnimation, sequentialRead: true })
    const cleaned = format === 'gif' ? cleanGif(bytes) : bytes
    const header = await sharp(cleaned, { limitInputPixels: false, animated: isAnimation }).metadata()
    const frames = checkSize(header)
    if (format === 'gif') return await checkGif(open(cleaned), cleaned, header, frames)
    const picture = open(cleaned).autoOrient().resize({ width: storedWidthMax, withoutEnlargement: true })
    const { data, info } = await encode(picture, format, header).toBuffer({ resolveWithObject: true })
    const height = info.pageHeight ?? info.height
    return checkStored({
      bytes: data,
      contentType: imageFormats[format].contentType,
      width: info.width,
      height,
      frames,
    })
  } catch (error) {
    if (isFromLibrary(error)) throw problem('is damaged or incomplete')
    throw error
  }
}

/** Returns the number of frames. */
function checkSize({ width, height, pageHeight, pages = 1, channels, depth }: Metadata): number {
  const frameHeight = pageHeight ?? height
  if (width > sideMax || frameHeight > sideMax)
    throw problem(`has ${width} × ${frameHeight} pixels. Each side can have at most ${sideMax.toLocaleString('en')}`)
  if (pages > framesMax) throw problem(`has ${pages} frames. It can have at most ${framesMax}`)
  if (width * frameHeight * pages > pixelsMax)
    throw problem(`has more than ${pixelsMax / 1_000_000} million pixels${pages > 1 ? ' in all frames' : ''}`)
  if (width * frameHeight * pages * channels * bytesPerChannel(depth) > decodedBytesMax)
    throw problem(`takes more than ${decodedBytesMax / 1_000_000} MB when decoded. Save it with 8 bits per channel`)
  return pages
}

const bytesPerChannel = (depth: Metadata['depth']): number => (depth === 'uchar' || depth === 'char' ? 1 : 2)

async function checkGif(picture: Sharp, bytes: Buffer, header: Metadata, frames: number) {
  // Decodes all frames, and keeps hardly any of the pixels.
  await picture.resize({ width: 1 }).raw().toBuffer()
  const { width, height, pageHeight = height } = header
  return checkStored({ bytes, contentType: imageFormats.gif.contentType, width, height: pageHeight, frames })
}

function encode(picture: Sharp, format: Exclude<ImageFormat, 'gif'>, { isPalette }: Metadata): Sharp {
  switch (format) {
    case 'png':
      return picture.png({ compressionLevel: 9, palette: isPalette ?? false })
    case 'jpeg':
      return picture.jpeg({ quality })
    case 'webp':
      return picture.webp({ quality, effort: webpEffort })
  }
}

function checkStored(prepared: PreparedImage): PreparedImage {
  if (prepared.bytes.length > storedBytesMax)
    throw problem(`takes more than ${storedBytesMax / 1024 / 1024} MB. Save it with fewer pixels or as JPEG`)
  return prepared
}

const problem = (text: string) => invalid({ path: 'image', problem: text })

/** The errors of the library are plain ones. Ours have a class. */
const isFromLibrary = (error: unknown) =>
  error instanceof DamagedGif || (error instanceof Error && error.constructor === Error)

export const prepareImageTask = defineTask<Buffer, PreparedImage>({
  name: 'images.prepare',
  title: 'Reading this image',
  msMax,
  isLong: true,
  run: prepareImage,
})
