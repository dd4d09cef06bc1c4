import { findProblems } from './liquid/liquid.ts'
import { compileMjml } from './mjml.ts'
import { exceeds, type Problem, wholeProblem } from './problems.ts'
import { htmlBytesMax, partNamesIn, withParts } from './with-parts.ts'

/** What the HTML of an email is made from, as it was written. */
export type Source = { format: 'html' | 'mjml'; text: string }

/** How sources of a format become HTML. Texts with Liquid keep their tags. */
type Compiler = {
  /** Whether it is only used in a task process, because its time and memory are unbounded. */
  needsTask: boolean
  /** The names of the parts that a source includes, as many as it may. */
  partNamesIn(text: string): string[]
  /** Returns the source with its parts, or the problems. The other functions expect the result. */
  withParts(text: string, parts: ReadonlyMap<string, string>): string | Problem[]
  findProblems(text: string): Problem[]
  /** Returns the HTML of a source without problems, or those that only compiling finds. */
  toHtml(text: string): Promise<string | Problem[]>
}

/** Formats in which parts are texts, and positions are lines and columns. */
const textFormat = { partNamesIn, withParts, findProblems: findTextProblems }

export const compilers: Record<Source['format'], Compiler> = {
  html: { ...textFormat, needsTask: false, toHtml: async (text) => text },
  mjml: { ...textFormat, needsTask: true, toHtml: compileMjml },
}

function findTextProblems(text: string): Problem[] {
  if (text.trim() === '') return [wholeProblem('html', 'The HTML is empty.')]
  if (Buffer.byteLength(text) > htmlBytesMax) return [wholeProblem('html', exceeds(htmlBytesMax))]
  return findProblems('html', text)
}
