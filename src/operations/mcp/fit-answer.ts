/** The size of an answer, as it is sent: JSON text in a JSON string. Leaves room for the envelope of the protocol. */
export const answerBytesMax = 25_000 - 500

export const textOf = (value: unknown): string => JSON.stringify(value)

/** Text in a JSON string has its quotes escaped once more. */
export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(textOf(value)))

export const fits = (value: unknown): boolean => sizeOf(value) <= answerBytesMax

/** Returns how many of the first items fit into an answer, at least one. */
export function countFitting(items: readonly unknown[], restBytes: number): number {
  let bytes = restBytes
  let count = 0
  for (const item of items) {
    bytes += sizeOf(item)
    if (bytes > answerBytesMax) break
    count++
  }
  return Math.max(1, count)
}

type Limits = { text: number; entries: number }

/** Tried in this order: texts are shortened first, and then lists and objects. */
const limits: readonly Limits[] = [
  ...[8_000, 2_000, 500, 100].map((text) => ({ text, entries: Number.POSITIVE_INFINITY })),
  ...[50, 20, 5, 1].map((entries) => ({ text: 100, entries })),
]

/** Shortens the value until it fits. What was shortened says so. */
export function shortenToFit(value: unknown): unknown {
  if (fits(value)) return value
  for (const limit of limits) {
    const shortened = shorten(value, limit)
    if (fits(shortened)) return shortened
  }
  return '… (too long for an answer)'
}

function shorten(value: unknown, limit: Limits): unknown {
  if (typeof value === 'string')
    return value.length > limit.text ? `${value.slice(0, limit.text)}… (${value.length} characters in all)` : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const shown = value.slice(0, limit.entries).map((item) => shorten(item, limit))
    return value.length > limit.entries ? [...shown, `… (${value.length} in all)`] : shown
  }
  const entries = Object.entries(value)
  const shown = entries.slice(0, Math.max(limit.entries, 20)).map(([name, item]) => [name, shorten(item, limit)])
  return Object.fromEntries(entries.length > shown.length ? [...shown, ['…', `${entries.length} in all`]] : shown)
}
