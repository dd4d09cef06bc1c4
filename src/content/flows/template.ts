import { rememberLast } from '../../platform/runtime/remember-last.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { isLongerThan } from '../../platform/values/text.ts'
import type { BrandValues } from '../brands/brand-values.ts'
import { Budget, bodyLimits, OverBudget, type RenderLimits, subjectLimits } from './budget.ts'
import type { TemplateAddress } from './email-checks.ts'
import {
  errorPosition,
  FaultyTemplate,
  findProblems,
  type LiquidTemplate,
  loadLiquid,
  type Outline,
} from './liquid/liquid.ts'
import { preheaderLengthMax, withPreheader } from './preheader.ts'
import { exceeds, Lines, messageOf, type Problem, type TemplatePart, wholeProblem } from './problems.ts'
import { noRecipientFields, type RecipientFields, recipientFieldsOf } from './recipient.ts'
import { compilers, type Source } from './sources.ts'
import { type HtmlToText, loadHtmlToText, textTemplateOf, tidyDerived } from './text-from-html.ts'
import { type Scope, scopeOf, type TemplateValues } from './values.ts'
import { mergeVariables, type Variable } from './variables.ts'
import { readsAddress, readsBrand, withBrand } from './with-brand.ts'

export const subjectLengthMax = 998
const textBytesMax = 500_000

export const variablesMax = 1_000
const tooManyVariables = `The template uses more than ${variablesMax} variables. Group them in lists or objects.`
/** Converting HTML to text takes about 100 ns per character, for up to this many characters. */
const convertedUnits = 10
const convertedLengthMax = 100_000

export type TemplateSource = {
  subject: string
  /** With its parts. */
  source: Source
  text?: string | null
  preheader?: string | null
  /** The current brand of the organization. */
  brand?: BrandValues | null
}

/**
 * A compiled template as a version stores it: `loadTemplate` prepares it without compiling MJML again. The text is the
 * one of the flow, derived from the HTML template, or else converted from the rendered HTML of each email.
 */
export type StoredTemplate = {
  subject: string
  html: string
  text: { from: 'flow' | 'template'; source: string } | { from: 'html' }
  /** Null if the template does not read it. */
  brand: BrandValues | null
}

/** How the email shows the address of the organization. */
export const addressIn = ({ html, brand }: StoredTemplate): TemplateAddress => ({
  isRead: readsAddress(html),
  stored: brand?.address ?? null,
})

export type RenderedBody = { html: string; text: string }
type RenderedEmail = RenderedBody & { subject: string }
/** The texts of a body around its outputs. The text is undefined if only whole texts are rendered. */
export type BodyOutline = { html: Outline; text: Outline | undefined }
/** Undefined for a part that ends before its last output. */
export type BodyOutputs = { html: readonly string[] | undefined; text: readonly string[] | string | undefined }

export type CompiledTemplate = {
  stored: StoredTemplate
  variables: readonly Variable[]
  recipientFields: RecipientFields
  /** Throws `Refusal` if the template fails with these values or exceeds the limits of an email. */
  render(values: TemplateValues): RenderedEmail
  /** The subject is rendered when an email is accepted, and the body when it is sent. */
  renderSubject(values: TemplateValues, limits?: RenderLimits): string
  renderBody(values: TemplateValues, limits?: RenderLimits): RenderedBody
  /** Undefined if the text is made from the rendered HTML. */
  outline: BodyOutline | undefined
  /** Like `renderBody`, without the texts of the outline. */
  renderOutputs(values: TemplateValues, limits?: RenderLimits): BodyOutputs
}

export type Compilation = { kind: 'compiled'; template: CompiledTemplate } | { kind: 'faulty'; problems: Problem[] }

/** Validates and compiles a template, and reports as many errors at once as possible. */
export async function compileTemplate(template: TemplateSource): Promise<Compilation> {
  const { subject, source, text, preheader, brand } = template
  const compiler = compilers[source.format]
  const problems = [
    ...faultsOf('subject', subject),
    ...(preheader ? faultsOf('preheader', preheader) : []),
    ...compiler.findProblems(source.text),
    ...(text ? faultsOf('text', text) : []),
  ]
  if (problems.length > 0) return { kind: 'faulty', problems }
  const html = await compiler.toHtml(source.text)
  if (typeof html !== 'string') return { kind: 'faulty', problems: html }
  const stored: StoredTemplate = {
    subject,
    html: withPreheader(html, preheader),
    text: text ? { from: 'flow', source: text } : await deriveText(html),
    brand: usesBrand(template) ? (brand ?? null) : null,
  }
  const compiled = await loadTemplate(stored).catch((error: unknown) => problemsOf(error, stored))
  if ('problems' in compiled) return { kind: 'faulty', ...compiled }
  if (compiled.variables.length > variablesMax)
    return { kind: 'faulty', problems: [wholeProblem('html', tooManyVariables)] }
  return { kind: 'compiled', template: compiled }
}

export const usesBrand = ({ subject, source, text, preheader }: TemplateSource): boolean =>
  [subject, source.text, text, preheader].some((part) => part && readsBrand(part))

/** The brand and the preheader may exceed a limit of the template. The places are not those of its source. */
function problemsOf(error: unknown, { brand }: StoredTemplate): { problems: Problem[] } {
  if (!(error instanceof FaultyTemplate)) throw error
  const worded = (message: string) => (brand ? message.replace(/\.$/, ' with the values of the brand.') : message)
  return { problems: error.problems.map(({ part, message }) => wholeProblem(part, worded(message))) }
}

/** Prepares a stored template for rendering. It was compiled before, so an error in it is a bug. */
export async function loadTemplate(stored: StoredTemplate): Promise<CompiledTemplate> {
  const { brand } = stored
  const subject = loadLiquid('subject', withBrand(stored.subject, brand))
  const html = loadLiquid('html', withBrand(stored.html, brand))
  const text = stored.text.from === 'html' ? undefined : loadLiquid('text', withBrand(stored.text.source, brand))
  const htmlToText = text ? undefined : await loadHtmlToText()
  const leavesGaps = stored.text.from === 'template' && text?.hasLogic

  const rendered = (part: LiquidTemplate, scope: Scope, budget: Budget, limits: RenderLimits | undefined) =>
    renderPart(part, budget, limits, () => part.render(scope, budget))
  const renderSubject = (values: TemplateValues, limits?: RenderLimits) =>
    oneLine(rendered(subject, scopeOf(values), new Budget(limits ?? subjectLimits(), values.time), limits))
  const renderBody = (values: TemplateValues, limits?: RenderLimits): RenderedBody => {
    const scope = scopeOf(values)
    const budget = new Budget(limits ?? bodyLimits(), values.time)
    const finishedHtml = rendered(html, scope, budget, limits)
    const plainText = text ? rendered(text, scope, budget, limits) : convert(htmlToText!, finishedHtml, budget, limits)
    return { html: finishedHtml, text: leavesGaps ? tidyDerived(plainText) : plainText }
  }
  const renderOutputs = (values: TemplateValues, limits?: RenderLimits): BodyOutputs => {
    const scope = scopeOf(values)
    const budget = new Budget(limits ?? bodyLimits(), values.time)
    const outputs = (part: LiquidTemplate) => renderPart(part, budget, limits, () => part.renderOutputs(scope, budget))
    return {
      html: outputs(html),
      text: leavesGaps ? tidyDerived(rendered(text!, scope, budget, limits)) : text && outputs(text),
    }
  }
  const outline = text && { html: html.outline, text: leavesGaps ? undefined : text.outline }
  const render = (values: TemplateValues) => ({ subject: renderSubject(values), ...renderBody(values) })
  const variables = mergeVariables([subject.variables, html.variables, text?.variables ?? []])
  const recipientFields = recipientFieldsOf([subject, html, ...(text ? [text] : [])])
  return { stored, variables, recipientFields, render, renderSubject, renderBody, outline, renderOutputs }
}

/** Replaces a stored template that can no longer be loaded, for example after an upgrade of the engine. */
export function unreadableTemplate(stored: StoredTemplate): CompiledTemplate {
  const refuse = () => {
    throw new Refusal('validation_failed', 'The template of this flow can no longer be loaded. Save the flow again.')
  }
  return {
    stored,
    variables: [],
    recipientFields: noRecipientFields,
    render: refuse,
    renderSubject: refuse,
    renderBody: refuse,
    outline: undefined,
    renderOutputs: refuse,
  }
}

function faultsOf(part: Exclude<TemplatePart, 'html'>, source: string): Problem[] {
  const fault = findTooLong(part, source)
  return fault ? [wholeProblem(part, fault)] : findProblems(part, source)
}

function findTooLong(part: Exclude<TemplatePart, 'html'>, source: string): string | undefined {
  if (part === 'text') return Buffer.byteLength(source) > textBytesMax ? exceeds(textBytesMax) : undefined
  if (part === 'subject' && source.trim() === '') return 'The subject is empty.'
  const lengthMax = part === 'subject' ? subjectLengthMax : preheaderLengthMax
  return isLongerThan(source, lengthMax) ? `The ${part} has more than ${lengthMax} characters.` : undefined
}

async function deriveText(html: string): Promise<StoredTemplate['text']> {
  const htmlToText: HtmlToText = await loadHtmlToText()
  const source = textTemplateOf(html, htmlToText)
  if (source === undefined || findProblems('text', source).length > 0) return { from: 'html' }
  return { from: 'template', source }
}

function convert(htmlToText: HtmlToText, html: string, budget: Budget, limits: RenderLimits | undefined): string {
  try {
    budget.use(Math.min(html.length, convertedLengthMax) * convertedUnits)
  } catch (error) {
    throw limits?.signalsExcess ? error : refusalOf('html', '', error)
  }
  return htmlToText(html)
}

function renderPart<Result>(
  template: LiquidTemplate,
  budget: Budget,
  limits: RenderLimits | undefined,
  render: () => Result,
): Result {
  try {
    return render()
  } catch (error) {
    if (limits?.signalsExcess && budget.excess) throw budget.excess
    throw refusalOf(template.part, template.source, error)
  }
}

const partTitles = {
  subject: 'subject',
  preheader: 'preheader',
  html: 'HTML part',
  text: 'text part',
} as const satisfies Record<TemplatePart, string>

/** Returns the error itself if it is a bug. */
function refusalOf(name: TemplatePart, source: string, error: unknown): unknown {
  const position = errorPosition(error)
  if (position === undefined && !(error instanceof OverBudget) && !(error instanceof RangeError)) return error
  const { line, column } = new Lines(source).at(position ?? 0)
  const message = messageOf(error)
  return new Refusal('validation_failed', `Could not render the ${partTitles[name]}. ${message}`, {
    fields: [{ path: name, problem: `line ${line}, column ${column}: ${message}` }],
  })
}

/** Collapses whitespace and control characters to spaces, since a subject is a single line. */
const oneLine = rememberLast((subject: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  const line = subject.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  return isLongerThan(line, subjectLengthMax) ? [...line].slice(0, subjectLengthMax).join('') : line
})
