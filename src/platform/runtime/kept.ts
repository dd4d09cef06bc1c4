/** Returns a function that calls `read` at most once at a time and keeps its result for `keptMs`. Errors are not kept. */
export function kept<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined
  let expiresAt = 0
  return () => {
    if (current && performance.now() < expiresAt) return current
    const reading = read()
    current = reading
    expiresAt = Number.POSITIVE_INFINITY
    reading.then(
      () => {
        expiresAt = performance.now() + keptMs
      },
      () => {
        current = undefined
      },
    )
    return reading
  }
}
