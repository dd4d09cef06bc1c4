/** Returns a function that reuses one buffer of up to `bytesMax`: allocating takes as long as filling it. */
export function scratchBuffer(bytesMax: number): (bytes: number) => Buffer {
  let kept = Buffer.alloc(0)
  return (bytes) => {
    if (bytes > bytesMax) return Buffer.allocUnsafe(bytes)
    if (bytes > kept.length) kept = Buffer.allocUnsafe(Math.min(2 * bytes, bytesMax))
    return kept
  }
}
