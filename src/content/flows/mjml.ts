import { randomBytes } from 'node:crypto'
import { findProblems, type Piece, piecesOf } from './liquid/liquid.ts'
import { Lines, messageOf, type Problem, problemsMax, wholeProblem } from './problems.ts'

const compiledLengthMax = 1_000_000

type MjmlError = { line: number; tagName: string; message: string }
type Outcome = { html: string; errors: MjmlError[] } | { fault: string }

/**
 * Compiles MJML with Liquid tags to HTML with the same tags, or returns its problems. MJML does not know Liquid: a `<`
 * within a tag starts an element, and a tag between two components is silently dropped. So placeholder words replace
 * the tags during compilation, and each of them must be found in the result.
 *
 * The time and memory that MJML needs are unbounded, so this runs in a task process only.
 */
export async function compileMjml(source: string): Promise<string | Problem[]> {
  const lines = new Lines(source)
  const problems = findIncludes(source, lines)
  if (problems.length > 0) return problems
  const word = unusedWord()
  const tags = piecesOf(source).filter(({ kind }) => kind !== 'text')
  const outcome = await runMjml(withWords(source, tags, word))
  if ('fault' in outcome) return [wholeProblem('html', messageOf(new Error(outcome.fault)))]

  const errors = outcome.errors.filter(({ message }) => !message.includes(word)).slice(0, problemsMax)
  problems.push(...errors.map((error) => problemOf(lines, error)))
  problems.push(...findLost(source, tags, outcome.html, word, lines))
  if (problems.length > 0) return problems.slice(0, problemsMax)
  const html = outcome.html.replace(new RegExp(`${word}(\\d+)x`, 'g'), (_, index) => tags[Number(index)]!.text)
  if (html.length > compiledLengthMax)
    return [wholeProblem('html', `The compiled HTML exceeds ${compiledLengthMax / 1000} KB.`)]
  const [fault] = findProblems('html', html)
  return fault ? [wholeProblem('html', `MJML separates Liquid tags that belong together: ${fault.message}`)] : html
}

function findIncludes(source: string, lines: Lines): Problem[] {
  const includes = [...source.matchAll(/<mj-include\b/gi)].slice(0, problemsMax)
  return includes.map(({ index }) => ({
    part: 'html',
    ...lines.at(index),
    message: 'mj-include is not available: templates cannot include others.',
  }))
}

/** Random, so that no source can contain it. */
const unusedWord = () => `liquidtag${randomBytes(12).toString('hex')}n`

/** Line breaks within a tag follow its placeholder, so that MJML counts the same lines. */
function withWords(source: string, tags: readonly Piece[], word: string): string {
  let text = ''
  let end = 0
  for (const [index, tag] of tags.entries()) {
    text += `${source.slice(end, tag.begin)}${word}${index}x${tag.text.replace(/[^\n]/g, '')}`
    end = tag.end
  }
  return text + source.slice(end)
}

function problemOf(lines: Lines, { line, tagName, message }: MjmlError): Problem {
  const column = lines.text(line).indexOf(`<${tagName}`) + 1
  return { part: 'html', line, column: column || 1, message: `${tagName}: ${message}.` }
}

/** A lost value in the head may be an unused default. Any other lost tag is a problem. */
function findLost(source: string, tags: readonly Piece[], html: string, word: string, lines: Lines): Problem[] {
  const found = new Set([...html.matchAll(new RegExp(`${word}(\\d+)x`, 'g'))].map(([, index]) => Number(index)))
  const body = source.indexOf('<mj-body')
  const lost = tags.filter((tag, index) => !found.has(index) && (tag.kind === 'tag' || tag.begin > body))
  return lost.slice(0, problemsMax).map((tag) => ({
    part: 'html',
    ...lines.at(tag.begin),
    message: `MJML does not allow ${tag.text.slice(0, 60)} here. Move it into <mj-raw>, or into the text of a component.`,
  }))
}

async function runMjml(source: string): Promise<Outcome> {
  // Loaded on demand: it takes 0.5 s and 55 MB.
  const { default: mjml } = await import('mjml')
  try {
    // Without fonts of its own, MJML would make every email load its default font from Google. `mj-font` still adds fonts.
    const { html, errors } = await mjml(source, { validationLevel: 'soft', ignoreIncludes: true, fonts: {} })
    return { html, errors: errors.map(({ line, tagName, message }) => ({ line, tagName, message })) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}
