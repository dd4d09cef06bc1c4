const [extension, image, trailer] = [0x21, 0x2c, 0x3b] as const
const [graphicControl, application] = [0xf9, 0xff] as const
const headerBytes = 13
const imageDescriptorBytes = 10
/** How often an animation is repeated. Other applications store metadata such as XMP. */
const loopExtensions = ['NETSCAPE2.0', 'ANIMEXTS1.0']

export class DamagedGif extends Error {}

/**
 * Returns the GIF without comments, texts, metadata and everything after its end. The frames stay byte for byte the same:
 * encoding an animation again takes seconds and changes its colours. Throws `DamagedGif` if it is incomplete.
 */
export function cleanGif(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  const byteAt = (at: number) => {
    const byte = bytes[at]
    if (byte === undefined) throw new DamagedGif('The file ends too early')
    return byte
  }
  const colorBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  /** Returns the position after the sub-blocks that start at `at`. */
  const endOfBlocks = (at: number) => {
    let end = at
    for (let size = byteAt(end); size > 0; size = byteAt(end)) end += 1 + size
    return end + 1
  }
  let at = headerBytes + colorBytes(byteAt(10))
  byteAt(at - 1)
  kept.push(bytes.subarray(0, at))
  let hasImage = false
  for (;;) {
    const start = at
    // Some programs omit the trailer.
    const kind = at === bytes.length && hasImage ? trailer : byteAt(at)
    if (kind === trailer) break
    if (kind === image) {
      const data = at + imageDescriptorBytes + colorBytes(byteAt(at + 9))
      at = endOfBlocks(data + 1)
      hasImage = true
      kept.push(bytes.subarray(start, at))
    } else if (kind === extension) {
      const label = byteAt(at + 1)
      at = endOfBlocks(at + 2)
      const isLoop = label === application && loopExtensions.includes(bytes.toString('latin1', start + 3, start + 14))
      if (label === graphicControl || isLoop) kept.push(bytes.subarray(start, at))
    } else throw new DamagedGif('The file contains an unknown block')
  }
  if (!hasImage) throw new DamagedGif('The file contains no image')
  return Buffer.concat([...kept, Buffer.from([trailer])])
}
