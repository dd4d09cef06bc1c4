import { waitMsMax } from './time-limits.ts'

/** Pauses grow during a long wait, because each look costs CPU time that the awaited work needs. */
const pauseMsMin = 10
const pauseMsMax = 50
const pauseShare = 0.05

/** Polls until `look` returns a value that is neither undefined, null nor false, and returns it. Throws on timeout. */
export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  withinMs = waitMsMax,
): Promise<NonNullable<Value>> {
  const started = Date.now()
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>
    const waitedMs = Date.now() - started
    if (waitedMs > withinMs) throw new Error(`Timed out waiting for ${what}.`)
    const pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, waitedMs * pauseShare))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
