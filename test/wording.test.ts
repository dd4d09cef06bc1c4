import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Words that have been replaced, and the name that is used instead in every text for users. */
const replaced: [RegExp, string][] = [
  [/\bnot bounced\b/i, 'Delivered'],
  [/^reported as spam$/i, 'Complaints'],
  [/\b(include|including|by|and) machines\b|^Human\b/i, 'Automated, People'],
  [/\bsample data\b|^(Values|Context)$/i, 'Variables'],
  [/\brelays?\b(?!\.example)/i, 'mail server'],
]

const oldNames = (text: string) => replaced.filter(([word]) => word.test(text))

const filesIn = (folder: string, name: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => join(folder, file))

const isIdentifier = (text: string) => /^[a-z][\w.-]*$/.test(text)

/** The string literals and the JSX texts of a source file. */
function textsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`]*)`|>([^<>{}]*[a-z][^<>{}]*)</g)
  return [...found]
    .map(([, ...groups]) => groups.find((text) => text !== undefined)!)
    .map((text) =>
      text
        .replace(/\$\{[^}]*\}/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((text) => !isIdentifier(text))
}

const oldNamesIn = (files: string[], texts: (file: string) => string[]) =>
  files.flatMap((file) =>
    texts(file).flatMap((text) => oldNames(text).map(([, name]) => `${file}: “${text}” is called ${name}`)),
  )

test('the web app has one name for each measure', () => {
  const files = filesIn('web/src', /\.tsx?$/)
  expect(files.length).toBeGreaterThan(100)
  expect(oldNamesIn(files, (file) => textsOf(readFileSync(file, 'utf8')))).toEqual([])
})

test('the guides have one name for each measure', () => {
  const proseOf = (file: string) =>
    readFileSync(file, 'utf8')
      .replace(/```[\s\S]*?```/g, '')
      .replace(/`[^`\n]*`/g, '')
      .split('\n')
  expect(oldNamesIn(filesIn('docs/guides', /\.md$/), proseOf)).toEqual([])
})

test('the API reference has one name for each measure', () => {
  const described: string[] = []
  JSON.parse(readFileSync('docs/openapi.json', 'utf8'), (key, value) => {
    if ((key === 'description' || key === 'summary') && typeof value === 'string') described.push(value)
    return value
  })
  expect(described.length).toBeGreaterThan(500)
  expect(oldNamesIn(['docs/openapi.json'], () => described.map((text) => text.replace(/`[^`]*`/g, '')))).toEqual([])
})

/** Comments of a source file name others: by their path, or by the last part of it if they are in the same package. */
function missingFilesIn(file: string, files: readonly string[]): string[] {
  const folder = file.split('/', file.startsWith('packages/') ? 2 : 1).join('/')
  const exists = (name: string) =>
    files.some((each) => each === name || (each.startsWith(`${folder}/`) && each.endsWith(`/${name}`)))
  const comments = readFileSync(file, 'utf8').matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm)
  const names = [...comments].flatMap(([comment]) => [
    ...comment.matchAll(/(?<![\w./…*:{}-])[\w-][\w./-]*\.(?:tsx?|mjs|sql)\b(?![\w-]|\.\w)/g),
  ])
  return names.flatMap(([name]) => (exists(name) ? [] : [`${file}: ${name}`]))
}

test('files that are named in comments exist', () => {
  const folders = ['src', 'test', 'web', 'sdk', 'packages', 'scripts', 'bench', 'examples']
  const files = folders.flatMap((folder) => filesIn(folder, /\.(tsx?|mjs|sql)$/))
  const sources = files.filter((file) => !/node_modules|\/dist\/|\.sql$/.test(file))
  expect(sources.length).toBeGreaterThan(1_000)
  expect(sources.flatMap((file) => missingFilesIn(file, files))).toEqual([])
})

/** Tables, code, images, URLs and long commands cannot be wrapped. */
function longLinesIn(file: string): string[] {
  const prose = readFileSync(file, 'utf8').replace(/^ *(```+|~~~+)[\s\S]*?^ *\1/gm, (code) => code.replace(/.+/g, ''))
  return prose.split('\n').flatMap((line, index) => {
    const text = line.replace(/`[^`]{80,}`|\]\([^)]*\)|https?:\/\/\S+/g, '')
    return text.length > 120 && !/^( *\|| {4}|!\[)/.test(line) ? [`${file}:${index + 1}`] : []
  })
}

test('Markdown is wrapped at 120 characters', () => {
  const folders = ['docs', 'src', 'bench', 'examples', 'packages', 'sdk', 'deploy']
  const nested = folders.flatMap((folder) => filesIn(folder, /\.md$/)).filter((file) => !file.includes('node_modules'))
  const files = [...readdirSync('.').filter((file) => file.endsWith('.md')), ...nested]
  expect(files.length).toBeGreaterThan(40)
  expect(files.flatMap(longLinesIn)).toEqual([])
})
