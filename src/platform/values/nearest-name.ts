/** Names with a larger edit distance are unlikely to be a typo. */
const typoDistanceMax = 2
/** Longer names are no typos, and comparing them takes time. */
export const comparedLengthMax = 100

/** Returns the known name that is most similar to this one, or undefined if none is. */
export function nearestName(
  name: string,
  known: readonly string[],
  distanceMax: number = typoDistanceMax,
): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  const [closest] = known
    // The distance is at least the difference of the lengths, which costs nothing.
    .filter((each) => Math.abs(each.length - name.length) <= distanceMax)
    .map((each) => ({ each, distance: distanceOf(name, each) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance)
  return closest?.each
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
