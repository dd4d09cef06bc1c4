/** A buffer that is used anew each time, since allocating one takes as long as filling it. Beyond `bytesMax` none is kept. */
export function scratchBuffer(bytesMax: number): (bytes: number) => Buffer {
  let kept = Buffer.alloc(0)
  return (bytes) => {
    if (bytes > bytesMax) return Buffer.allocUnsafe(bytes)
    if (bytes > kept.length) kept = Buffer.allocUnsafe(Math.min(2 * bytes, bytesMax))
    return kept
  }
}
