import sharp from 'sharp'

/** A PNG file to upload. */
export const picture = async (name: string, width: number) => ({
  name: `${name}.png`,
  mimeType: 'image/png',
  buffer: await sharp({ create: { width, height: 80, channels: 3, background: '#c84' } })
    .png()
    .toBuffer(),
})
