/** Shorter than the limit of a test, so that a failure names the condition. */
const withinMsDefault = 150_000
const everyMs = 10

/** Polls until `look` returns a value that is neither undefined, null nor false, and returns it. Throws on timeout. */
export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  withinMs = withinMsDefault,
): Promise<NonNullable<Value>> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>
    if (Date.now() > deadline) throw new Error(`Timed out waiting for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
