import { readFileSync } from 'node:fs'
import { SetupFault } from '../values/errors.ts'
import { nearestName } from '../values/nearest-name.ts'

export type Environment = Record<string, string | undefined>

/** Returns the content of the file that a setting or flag names. Throws `SetupFault` if it cannot be read. */
export function readSettingFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SetupFault(`${name}: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}.`)
  }
}

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
  const unknown = Object.keys(file).filter((name) => !settings.includes(name))
  const matches = unknown.map((name) => ({ name, suggestion: nearestName(name.toUpperCase(), settings) }))
  const others = matches.filter(({ suggestion }) => !suggestion).map(({ name }) => name)
  return [
    ...matches
      .filter(({ suggestion }) => suggestion)
      .map(({ name, suggestion }) => `Unknown setting ${name} in ${fileName}. Did you mean ${suggestion}?`),
    ...(others.length > 0 ? [`Unknown settings in ${fileName}: ${others.join(', ')}.`] : []),
  ]
}
