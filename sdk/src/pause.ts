/** Throws the reason of the signal if it is aborted before or during the pause. */
export function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resume, fail) => {
    if (signal?.aborted) return fail(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      fail(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resume()
    }, waitMs)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
