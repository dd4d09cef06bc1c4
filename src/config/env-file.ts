import type { Environment } from './config.ts'

/** Further apart, two names are more likely two things than one of them misspelt. */
const misspeltMax = 2

/**
 * Node's own parser is not used: it ends a value at any `#`, also at one in a password, and drops what follows a quoted
 * name, as in `"Acme" <hello@acme.example>`.
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

/** What `.env` names that is no setting, in sentences: one for each that looks misspelt, and one for all others. */
export function strayNames(file: Environment, settings: readonly string[]): string[] {
  const strays = Object.keys(file).filter((name) => !settings.includes(name))
  const looked = strays.map((name) => ({ name, meant: nearest(name.toUpperCase(), settings) }))
  const others = looked.filter(({ meant }) => !meant).map(({ name }) => name)
  return [
    ...looked
      .filter(({ meant }) => meant)
      .map(({ name, meant }) => `${name} in .env is no setting. Did you mean ${meant}?`),
    ...(others.length > 0 ? [`In .env, but no setting: ${others.join(', ')}.`] : []),
  ]
}

function nearest(name: string, settings: readonly string[]): string | undefined {
  const [closest] = settings
    .map((setting) => ({ setting, distance: distanceOf(name, setting) }))
    .filter(({ distance }) => distance <= misspeltMax)
    .sort((a, b) => a.distance - b.distance)
  return closest?.setting
}

/** How many letters have to be put in, left out or exchanged to make one of the other. */
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
