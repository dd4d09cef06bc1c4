import { type FieldProblem, Refusal } from '../values/errors.ts'
import { bodyLimits, type RenderLimits, subjectLimits } from './budget.ts'
import { warnOfDeadLinks } from './dead-links.ts'
import { type Attribute, visitTags } from './html-tags.ts'
import type { Problem } from './problems.ts'
import { compileTemplate, type TemplateSource } from './template.ts'
import { withUnsubscribeLine } from './unsubscribe-line.ts'
import type { TemplateValues } from './values.ts'
import { missingVariables } from './variables.ts'

/** A rendered email. An invalid template is a result, not an error, because it may still be edited. */
export type Preview = {
  subject: string | null
  html: string | null
  text: string | null
  variables: { name: string; hasDefault: boolean }[]
  missing: string[]
  problems: FieldProblem[]
  warnings: string[]
}

export const toFieldProblems = (problems: readonly Problem[]): FieldProblem[] =>
  problems.map(({ part, line, column, message }) => ({ path: part, problem: message, line, column }))

export type PreviewInput = {
  source: TemplateSource
  values: TemplateValues
  /** Marketing emails get a visible unsubscribe link. */
  isMarketing: boolean
}

const nothing = { subject: null, html: null, text: null, variables: [], missing: [], warnings: [] }

export const faultyPreview = (problems: readonly Problem[]): Preview => ({
  ...nothing,
  problems: toFieldProblems(problems),
})

/** `limits` are those of the main thread. Throws `NeedsTask` if they are exceeded. */
export async function previewOf(
  { source, values, isMarketing }: PreviewInput,
  cpuMs: number,
  limits?: RenderLimits,
): Promise<Preview> {
  const compilation = await compileTemplate(source)
  if (compilation.kind === 'faulty') return faultyPreview(compilation.problems)
  const { template } = compilation
  const missing = missingVariables(template, values)
  const variables = template.variables.map(({ name, hasDefault }) => ({ name, hasDefault }))
  const known = { variables, missing }
  try {
    const subject = template.renderSubject(values, limits ?? subjectLimits(cpuMs))
    const rendered = template.renderBody(values, limits ?? bodyLimits(cpuMs))
    const body = isMarketing ? withUnsubscribeLine(rendered, values.unsubscribeUrl) : rendered
    const isSure = missing.length === 0 ? () => true : linksOf(template.stored.html)
    return { subject, ...body, ...known, problems: [], warnings: warnOfDeadLinks(body.html, isSure) }
  } catch (error) {
    if (error instanceof Refusal) return { ...nothing, ...known, problems: error.fields }
    throw error
  }
}

/** A link may start with a value that is still missing, unless the template itself contains it. */
function linksOf(source: string): (href: Attribute) => boolean {
  const values = new Set<string>()
  visitTags(source, {
    wants: (name) => name === 'a' || name === 'area',
    visit: (_name, _start, attributes) => {
      for (const { name, value } of attributes) if (name === 'href') values.add(value)
    },
  })
  return ({ value }) => values.has(value)
}
