import { crc32, deflateSync } from 'node:zlib'

// Two pictures that are computed, so that the demo needs no files.

type Color = readonly [red: number, green: number, blue: number]

const mix = (from: Color, to: Color, share: number): Color =>
  [0, 1, 2].map((at) => Math.round(from[at]! + (to[at]! - from[at]!) * share)) as unknown as Color

/** The sun above the hills at dusk. */
export const eveningPicture = (): Buffer =>
  pngOf(1_120, 480, (x, y) => {
    const hill = (base: number, height: number, phase: number) => base - height * Math.sin(x / 180 + phase)
    const distance = Math.hypot(x - 800, y - 170)
    if (distance < 62) return [255, 226, 150]
    if (y > hill(430, 34, 0.4)) return [24, 38, 54]
    if (y > hill(360, 46, 2.2)) return [45, 66, 88]
    const sky = mix([38, 48, 92], [240, 150, 104], y / 400)
    return distance < 260 ? mix([255, 214, 150], sky, (distance - 62) / 198) : sky
  })

/** A circle with a roof, transparent around it, so that it also fits dark emails. */
export const logoPicture = (): Buffer =>
  pngOf(160, 160, (x, y) => {
    const isRoof = y > 44 && y < 84 && Math.abs(x - 80) < y - 38
    const isHouse = y >= 84 && y < 118 && Math.abs(x - 80) < 32 && !(Math.abs(x - 80) < 9 && y > 94)
    if (isRoof || isHouse) return [255, 255, 255]
    return Math.hypot(x - 80, y - 80) < 76 ? [28, 107, 79] : undefined
  })

/** Pixels without a color are transparent. */
function pngOf(width: number, height: number, colorAt: (x: number, y: number) => Color | undefined): Buffer {
  const rows = Buffer.alloc(height * (1 + 4 * width))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const color = colorAt(x, y)
      if (color) rows.set([...color, 255], y * (1 + 4 * width) + 1 + 4 * x)
    }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0])
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
