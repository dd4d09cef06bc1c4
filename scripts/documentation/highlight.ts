import { createRequire } from 'node:module'

type Highlighter = {
  registerLanguage(name: string, language: unknown): void
  highlight(code: string, options: { language: string }): { value: string }
}

// Not imported, because the types of the package would add those of the browser to the whole program.
const require = createRequire(import.meta.url)
const highlighter: Highlighter = require('highlight.js/lib/core')

/** The languages of code blocks by the name of their grammar. */
const grammars: Record<string, string> = {
  sh: 'bash',
  ts: 'typescript',
  go: 'go',
  http: 'http',
  ini: 'ini',
  json: 'json',
  nginx: 'nginx',
  php: 'php',
  python: 'python',
  ruby: 'ruby',
  sql: 'sql',
  yaml: 'yaml',
}
for (const [name, grammar] of Object.entries(grammars))
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${grammar}`))

/** Returns escaped HTML with a class for each kind of token, or undefined if the language is unknown. */
export function highlight(code: string, language: string): string | undefined {
  if (!Object.hasOwn(grammars, language)) return undefined
  return highlighter.highlight(code, { language }).value
}
