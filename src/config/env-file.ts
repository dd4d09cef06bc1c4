import { nearestName } from '../values/nearest-name.ts'
import type { Environment } from './config.ts'

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

/** Returns warnings about unknown names in a file: one for each that looks like a typo, and one for all others. */
export function unknownSettings(fileName: string, file: Environment, settings: readonly string[]): string[] {
  const strays = Object.keys(file).filter((name) => !settings.includes(name))
  const matches = strays.map((name) => ({ name, meant: nearestName(name.toUpperCase(), settings) }))
  const others = matches.filter(({ meant }) => !meant).map(({ name }) => name)
  return [
    ...matches
      .filter(({ meant }) => meant)
      .map(({ name, meant }) => `Unknown setting ${name} in ${fileName}. Did you mean ${meant}?`),
    ...(others.length > 0 ? [`Unknown settings in ${fileName}: ${others.join(', ')}.`] : []),
  ]
}
