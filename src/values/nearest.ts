/** Names with a larger edit distance are unlikely to be a typo. */
const typoDistanceMax = 2

/** Returns the name of which `typed` is probably a misspelling, or undefined if there is none. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const [closest] = names
    .filter((name) => Math.abs(name.length - typed.length) <= typoDistanceMax)
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ distance }) => distance <= typoDistanceMax)
    .sort((a, b) => a.distance - b.distance)
  return closest?.name
}

/** Returns the Levenshtein distance. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (letter === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
