import type { Environment } from './config.ts'

/** Names with a larger edit distance are unlikely to be a typo. */
const typoDistanceMax = 2

/**
 * Node's own parser is not used because it ends a value at any `#`, even inside a password, and drops the text after a
 * quoted part, as in `"Acme" <hello@acme.example>`.
 */
export function parseEnvFile(content: string): Environment {
  const values: Environment = {}
  for (const line of content.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line)
    if (!match) continue
    const [, name, value] = match as unknown as [string, string, string]
    const quoted = /^(['"])(.*?)\1(?:\s+#.*)?$/.exec(value)
    values[name] = quoted ? quoted[2]! : value.replace(/\s+#.*$/, '')
  }
  return values
}

/** Returns warnings about unknown names in `.env`: one for each that looks like a typo, and one for all others. */
export function unknownSettings(file: Environment, settings: readonly string[]): string[] {
  const strays = Object.keys(file).filter((name) => !settings.includes(name))
  const looked = strays.map((name) => ({ name, meant: nearest(name.toUpperCase(), settings) }))
  const others = looked.filter(({ meant }) => !meant).map(({ name }) => name)
  return [
    ...looked
      .filter(({ meant }) => meant)
      .map(({ name, meant }) => `Unknown setting ${name} in .env. Did you mean ${meant}?`),
    ...(others.length > 0 ? [`Unknown settings in .env: ${others.join(', ')}.`] : []),
  ]
}

function nearest(name: string, settings: readonly string[]): string | undefined {
  const [closest] = settings
    .map((setting) => ({ setting, distance: distanceOf(name, setting) }))
    .filter(({ distance }) => distance <= typoDistanceMax)
    .sort((a, b) => a.distance - b.distance)
  return closest?.setting
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
