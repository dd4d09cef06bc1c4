// Finds what was clicked in the preview of an email in the template that it was rendered from.

import { decoded, type Occurrence, shownText } from '../../ui/shown-text.ts'

export type SourceRange = { from: number; to: number }

/** Comments, Liquid tags, elements without shown content, and tags. What is between them is shown as text. */
const notText =
  /<!--[\s\S]*?-->|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|<(mj-head|head|style|script|title)\b[\s\S]*?<\/\1\s*>|<\/?[a-z](?:"[^"]*"|'[^']*'|\{\{[\s\S]*?\}\}|[^'">])*>/gi

type Run = SourceRange & { text: string }

/** The pieces of text of a template, without what Liquid inserts. */
export function textRuns(source: string): Run[] {
  const runs: Run[] = []
  const add = (from: number, to: number) => {
    const raw = source.slice(from, to)
    const text = shownText(raw)
    if (text === '') return
    const start = from + raw.length - raw.trimStart().length
    runs.push({ from: start, to: start + raw.trim().length, text })
  }
  let at = 0
  for (const match of source.matchAll(notText)) {
    add(at, match.index)
    at = match.index + match[0].length
  }
  add(at, source.length)
  return runs
}

/** Returns undefined if the text comes from a variable or a part. A text with variables is found by its longest piece. */
export function findText(source: string, { text, nth }: Occurrence): SourceRange | undefined {
  const runs = textRuns(source)
  const same = runs.filter((run) => run.text === text)
  if (same.length > 0) return rangeOf(same[Math.min(nth, same.length - 1)]!)
  const pieces = runs.filter((run) => run.text.length > 1 && text.includes(run.text))
  const longest = pieces.toSorted((a, b) => b.text.length - a.text.length)[0]
  return longest && rangeOf(longest)
}

/** Returns the range of the value, without its quotes. */
export function findAttribute(
  source: string,
  name: 'href' | 'src',
  { text, nth }: Occurrence,
): SourceRange | undefined {
  const values = [...source.matchAll(new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'gi'))].map((match) => {
    const value = match[1] ?? match[2] ?? ''
    const from = match.index + match[0].length - 1 - value.length
    return { from, to: from + value.length, value }
  })
  const same = values.filter(({ value }) => decoded(value) === text)
  const found =
    same.length > 0 ? same[Math.min(nth, same.length - 1)] : values.find(({ value }) => mayRender(value, text))
  return found && rangeOf(found)
}

/** Whether a value with Liquid tags may have become the text: what is outside of the tags occurs in this order. */
function mayRender(value: string, text: string): boolean {
  const pieces = value.split(/\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/)
  if (pieces.length === 1 || pieces.every((piece) => piece === '')) return false
  let at = 0
  for (const piece of pieces.map(decoded)) {
    const found = text.indexOf(piece, at)
    if (found === -1 || (at === 0 && found > 0 && piece === decoded(pieces[0]!))) return false
    at = found + piece.length
  }
  return true
}

export const replaced = (source: string, { from, to }: SourceRange, text: string) =>
  source.slice(0, from) + text + source.slice(to)

/** Line and column, from 1, of an offset. */
export function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/** A typed text as HTML. Liquid tags stay as they are. */
export const escapedText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
export const escapedAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

const rangeOf = ({ from, to }: SourceRange): SourceRange => ({ from, to })
