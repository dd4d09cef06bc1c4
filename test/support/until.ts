const withinMsDefault = 45_000
const everyMs = 10

/** Waits for a condition instead of a time: resolves with the first value that is neither undefined, null nor false. */
export async function until<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  withinMs = withinMsDefault,
): Promise<NonNullable<Value>> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
