export type MinimumRate = {
  bytesPerSecond: number
  /** The longest pause, and the time before the rate counts. */
  graceMs: number
}

/**
 * Yields the chunks of a stream, and calls `onTooSlow` if the sender is slower than this. Time in which the reader does not
 * ask for the next chunk does not count.
 */
export async function* atMinimumRate(
  stream: AsyncIterable<Buffer>,
  { bytesPerSecond, graceMs }: MinimumRate,
  onTooSlow: () => void,
): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]()
  let leftMs = graceMs
  try {
    for (;;) {
      const askedAt = performance.now()
      const timer = setTimeout(onTooSlow, Math.max(1, leftMs))
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer))
      if (done) return
      const earnedMs = (value.length / bytesPerSecond) * 1_000
      leftMs = Math.min(graceMs, leftMs - (performance.now() - askedAt) + earnedMs)
      yield value
    }
  } finally {
    await chunks.return?.()
  }
}
