import { type FieldProblem, Refusal } from '../../platform/values/errors.ts'
import { bodyLimits, type RenderLimits, subjectLimits } from './budget.ts'
import { type CheckSettings, checkEmail, type EmailCheck } from './email-checks.ts'
import { type Attribute, visitTags } from './html-tags.ts'
import type { Problem } from './problems.ts'
import { addressIn, compileTemplate, type TemplateSource } from './template.ts'
import { withUnsubscribeLine } from './unsubscribe-line.ts'
import type { TemplateValues } from './values.ts'
import { missingVariables } from './variables.ts'

/** A rendered email. An invalid template is a result, not an error, because it may still be edited. */
export type Preview = EmailCheck & {
  subject: string | null
  html: string | null
  text: string | null
  variables: { name: string; hasDefault: boolean }[]
  missing: string[]
  problems: FieldProblem[]
}

export const toFieldProblems = (problems: readonly Problem[]): FieldProblem[] =>
  problems.map(({ part, line, column, message }) => ({ path: part, problem: message, line, column }))

export type PreviewInput = {
  template: TemplateSource
  values: TemplateValues
  /** Marketing emails get a visible unsubscribe link. */
  isMarketing: boolean
  /** The parameters that are added to links. */
  utmQuery: string
  settings: CheckSettings
}

const nothing = {
  subject: null,
  html: null,
  text: null,
  variables: [],
  missing: [],
  findings: [],
  links: [],
  htmlBytes: 0,
}

export const faultyPreview = (problems: readonly Problem[]): Preview => ({
  ...nothing,
  problems: toFieldProblems(problems),
})

/** `limits` are those of the main thread. Throws `OverBudget` if they are exceeded. */
export async function previewOf(
  { template: given, values, isMarketing, utmQuery, settings }: PreviewInput,
  cpuMs: number,
  limits?: RenderLimits,
): Promise<Preview> {
  const compilation = await compileTemplate(given)
  if (compilation.kind === 'faulty') return faultyPreview(compilation.problems)
  const { template } = compilation
  const missing = missingVariables(template, values)
  const variables = template.variables.map(({ name, hasDefault }) => ({ name, hasDefault }))
  const known = { variables, missing }
  try {
    const subject = template.renderSubject(values, limits ?? subjectLimits(cpuMs))
    const rendered = template.renderBody(values, limits ?? bodyLimits(cpuMs))
    const body = isMarketing ? withUnsubscribeLine(rendered, values.unsubscribeUrl) : rendered
    const check = checkEmail({
      ...settings,
      subject,
      html: body.html,
      source: given.source.text,
      templateAddress: addressIn(template.stored),
      isMarketing,
      unsubscribeUrl: values.unsubscribeUrl,
      utmQuery,
      isSure: missing.length === 0 ? () => true : isWrittenIn(template.stored.html),
    })
    return { subject, ...body, ...known, ...check, problems: [] }
  } catch (error) {
    if (error instanceof Refusal) return { ...nothing, ...known, problems: error.fields }
    throw error
  }
}

/** An address may start with a value that is still missing, unless the template itself contains it. */
export function isWrittenIn(template: string): (attribute: Attribute) => boolean {
  const values = new Set<string>()
  visitTags(template, {
    wants: (name) => name === 'a' || name === 'area' || name === 'img',
    visit: (_name, _start, attributes) => {
      for (const { name, value } of attributes) if (name === 'href' || name === 'src') values.add(value)
    },
  })
  return ({ value }) => values.has(value)
}
