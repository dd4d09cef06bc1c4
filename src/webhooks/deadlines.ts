/** An entry in the list of deadlines, linked by `before` and `after`. */
export type Waiting = {
  readonly startedAtMs: number
  before: Waiting | undefined
  after: Waiting | undefined
  expire(): void
}

/**
 * One timer for all entries with the same timeout: the oldest entry expires first, so only the head of the list is
 * watched. An AbortSignal per request halves the rate of posts, and a Set instead of links triples the work of the
 * garbage collector.
 */
export function createDeadlines(timeoutMs: number) {
  let first: Waiting | undefined
  let last: Waiting | undefined
  let timer: NodeJS.Timeout | undefined

  function add(waiting: Waiting): void {
    waiting.before = last
    if (last) last.after = waiting
    else first = waiting
    last = waiting
    if (!timer) watch()
  }

  function remove(waiting: Waiting): void {
    const { before, after } = waiting
    if (!before && waiting !== first) return // Already removed.
    if (before) before.after = after
    else first = after
    if (after) after.before = before
    else last = before
    waiting.before = undefined
    waiting.after = undefined
  }

  function watch(): void {
    timer = undefined
    const now = performance.now()
    while (first) {
      const leftMs = first.startedAtMs + timeoutMs - now
      if (leftMs > 0) {
        timer = setTimeout(watch, Math.ceil(leftMs))
        // Pending entries hold a socket or a query, which keep the process alive.
        timer.unref()
        return
      }
      const late = first
      remove(late)
      late.expire()
    }
  }

  function stop(): void {
    clearTimeout(timer)
    timer = undefined
  }

  return { add, remove, stop }
}

export type Deadlines = ReturnType<typeof createDeadlines>
