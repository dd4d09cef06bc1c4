import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { engineFor } from '../src/content/flows/liquid/engine.ts'
import { filtersFor } from '../src/content/flows/liquid/filters.ts'
import { keysMax, nestingMax, tagLengthMax, tagsMax } from '../src/content/flows/liquid/parse.ts'
import { compileTemplate, subjectLengthMax } from '../src/content/flows/template.ts'
import { htmlBytesMax } from '../src/content/flows/with-parts.ts'
import { filterHelp, nameHelp, tagHelp } from '../web/src/content/flows/template-help.ts'

const page = readFileSync('docs/guides/templates.md', 'utf8')
const blocks = [...page.matchAll(/^```(?:liquid|json)[^\n]*\n(.*?)^```$/gms)].flatMap(([, block]) =>
  block!.trim().split('\n'),
)
const [contact, context] = blocks.filter((line) => line.startsWith('{"')).map((line) => JSON.parse(line))
const examples = blocks
  .filter((line) => line.includes('→'))
  .map((line) => line.split('→').map((side) => side.trim()) as [string, string])

async function resultOf(html: string): Promise<string> {
  const compilation = await compileTemplate({ subject: 'Hello', source: { format: 'html', text: html } })
  if (compilation.kind === 'faulty') return JSON.stringify(compilation.problems)
  const { email, first_name: firstName, last_name: lastName, attributes } = contact
  const values = {
    contact: { email, firstName, lastName, attributes },
    organization: { name: 'Acme' },
    unsubscribeUrl: 'https://mail.example.com/u/abc',
    context,
  }
  return compilation.template.render(values).html.trim()
}

test('every example in docs/guides/templates.md renders the documented output', async () => {
  const results = await Promise.all(examples.map(async ([source]) => [source, await resultOf(source)]))
  expect(results).toEqual(examples)
})

test('docs/guides/templates.md has an example of every filter and lists every tag and limit', () => {
  const sources = examples.map(([source]) => source).join('\n')
  const isShown = (filter: string) => new RegExp(`\\| ${filter}\\b`).test(sources)
  expect(Object.keys(filtersFor('html')).filter((filter) => !isShown(filter))).toEqual([])
  const isNamed = (tag: string) => page.includes(`{% ${tag} `) || page.includes(`\`${tag}\``)
  expect(Object.keys(engineFor('html').tags).filter((tag) => !isNamed(tag))).toEqual([])
  const limits = [subjectLengthMax, htmlBytesMax / 1000, tagsMax, tagLengthMax, nestingMax, keysMax]
  const table = page.slice(page.indexOf('## Limits'))
  expect(limits.filter((limit) => !table.includes(` ${limit.toLocaleString('en')} `))).toEqual([])
})

test('docs/guides/templates.md contains the descriptions of names and filters in the editor', () => {
  expect(examples).toEqual(
    expect.arrayContaining([...filterHelp, ...tagHelp].map(({ source, result }) => [source, result])),
  )
  expect(nameHelp.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})
